// nginx with servers of several configurations, each on a port of its own, in the same workers.
import { findFreePort } from '../test/support/servers/free-port.ts'
import { NGINX, writeNginxConfig } from '../test/support/servers/nginx.ts'
import { startProxy } from '../test/support/servers/start-proxy.ts'
import type { Bench } from './harness.ts'

export interface StartedNginx<Form extends string> {
  pid: number
  origins: Record<Form, string>
}

/** How nginx sends segments from files. */
export const FILE_FORMS = {
  // Debian's /etc/nginx/nginx.conf.
  default: 'sendfile on; tcp_nopush on;',
  // Reads of 256 KiB stay in the second cache between read and send, which on loopback beats
  // sendfile.
  tuned: 'sendfile off; tcp_nopush off; output_buffers 2 256k;',
}

/** nginx-vod-module packages MP4 just in time, too. The settings that were fastest. */
export const VOD_SETTINGS = [
  'sendfile on; output_buffers 4 256k; aio off; open_file_cache max=1000;',
  'vod_mode local; vod_metadata_cache metadata 1024m; vod_response_cache response 128m;',
  'vod_segment_duration 6000; vod_align_segments_to_key_frames on;',
  'vod_manifest_segment_durations_mode accurate; vod_max_frames_size 64m;',
  'vod_max_metadata_size 256m; vod_max_frame_count 8388608; vod_output_buffer_pool 64k 256;',
  'vod_hls_mpegts_align_frames off;',
]
const VOD_AES = 'vod_hls_encryption_method aes-128; vod_secret_key "k$vod_filepath";'
const VOD_FMP4 = 'vod_hls_container_format fmp4;'
export const VOD_FORMS = {
  'ts plain': '',
  'ts aes': VOD_AES,
  'mp4 plain': VOD_FMP4,
  'mp4 aes': VOD_FMP4 + VOD_AES,
}

interface NginxOptions<Form extends string> {
  /** Directives of each server. */
  servers: Record<Form, string>
  /** Directives that all servers share. */
  shared: readonly string[]
  /** One is on the processor that ours is on. */
  workers: number
  /** A dynamic module, if any. */
  module?: string
}

/** Ends with the benchmark. */
export async function startNginx<Form extends string>(
  bench: Bench,
  { servers, shared, workers, module }: NginxOptions<Form>,
): Promise<StartedNginx<Form>> {
  const origins = { ...servers }
  const parts: string[] = []
  const forms = Object.keys(servers).filter((form): form is Form => form in servers)
  for (const form of forms) {
    const address = `127.0.0.1:${await findFreePort()}`
    origins[form] = `http://${address}`
    parts.push(`server { listen ${address}; ${servers[form]} }`)
  }
  const site = [...shared, ...parts].join('\n')
  // It listens on all ports before it responds on any.
  const [url = ''] = Object.values<string>(origins)
  const wrapper = workers === 1 ? bench.pin(0) : []
  const configure = async (folder: string): Promise<string[]> =>
    writeNginxConfig(folder, site, { workers, module })
  const { pid, stop } = await startProxy({ ...NGINX, wrapper, url, configure, isReady: responds })
  bench.defer(stop)
  return { pid, origins }
}

async function responds(origin: string): Promise<boolean> {
  const response = await fetch(origin).catch(() => undefined)
  await response?.body?.cancel()
  return response !== undefined
}

/** An argument of a directive. */
export function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}
