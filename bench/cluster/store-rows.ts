// The rows of segments from an object store: ours reads the recording, nginx is a proxy of objects
// that have the bytes of the segments.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { createBucket } from '../../test/support/servers/bucket.ts'
import type { TestBucket } from '../../test/support/servers/bucket.ts'
import { awsEnvironment, startObjectStore } from '../../test/support/servers/object-store.ts'
import type { ObjectStore } from '../../test/support/servers/object-store.ts'
import { startServer } from '../../test/support/servers/start-server.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import { hasProgram } from '../machine.ts'
import type { BenchLibrary } from '../make-media.ts'
import type { Row } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import type { Pin } from '../pin.ts'
import { cutSegments, scatter } from '../segments/cut-segments.ts'
import { startNginx } from '../segments/nginx.ts'

const FORMATS = ['mp4', 'ts'] as const
/** Segments that fit into the block cache. */
const WARM_SEGMENTS = 8

export interface StoreRowSetting {
  options: BenchOptions
  library: BenchLibrary
  scratch: string
  pin: Pin
  stops: (() => Promise<unknown>)[]
}

/**
 * Starts the store and the servers. More segments than a cache holds are requested again and again
 * in one order, so that a cache of recent blocks has none of them; then a few that it holds.
 */
export async function prepareStoreRows(setting: StoreRowSetting): Promise<Row[]> {
  const { library, options, scratch, stops } = setting
  const store = await startObjectStore()
  stops.push(() => store.stop())
  const bucket = await createBucket(store)
  await bucket.putTree(library.folder, 'library/')
  const server = await startOurs(setting, store, bucket)
  const rows: Row[] = []
  const files = []
  for (const format of FORMATS.slice(0, options.isSmoke ? 1 : undefined)) {
    const playlist = `${server.url}/api/video/${library.sessions[format]}/playlist.m3u8`
    files.push({ format, ...(await cutSegments(playlist, path.join(scratch, 'cut'), format)) })
  }
  const nginx = await startRival(setting, {
    store,
    bucket,
    paths: files.flatMap(({ filePaths }) => filePaths),
  })
  for (const state of ['cold', 'warm'] as const) {
    for (const { format, serverPaths, filePaths } of files) {
      const row = (name: string, server: Pick<Row, 'pid' | 'origin'>, paths: string[]): Row => {
        const chosen = state === 'warm' ? paths.slice(0, WARM_SEGMENTS) : scatter(paths)
        const { pids: backends } = store
        return { ...server, name, backends, isWarmedUp: state === 'warm', paths: () => chosen }
      }
      const ours = { pid: server.pid, origin: server.url }
      rows.push(row(`ours ${format} ${state}`, ours, serverPaths))
      if (nginx === undefined) continue
      const rival = { pid: nginx.pid, origin: nginx.origins[state] }
      rows.push(row(`nginx ${format} ${state}`, rival, filePaths))
    }
  }
  return rows
}

async function startOurs(
  { scratch, pin, stops }: StoreRowSetting,
  store: ObjectStore,
  bucket: TestBucket,
): Promise<StartedServer> {
  const server = await startServer({
    args: [`s3://${bucket.name}/library`, '--data', path.join(scratch, 'data')],
    wrapper: pin(0),
    environment: {
      ...awsEnvironment(store),
      AFTERCAST_S3_PATH_STYLE: 'true',
      AFTERCAST_WORKERS: '1',
      AFTERCAST_HLS_ENCRYPTION: 'none',
    },
  })
  stops.push(() => server.stop())
  return server
}

interface Rival {
  store: ObjectStore
  bucket: TestBucket
  /** Of the files that have the segments. */
  paths: string[]
}

/** With the segments as public objects; undefined if nginx is not installed. */
async function startRival(
  { scratch, pin, stops }: StoreRowSetting,
  { store, bucket, paths }: Rival,
) {
  if (!hasProgram('nginx')) return undefined
  for (const each of paths) {
    const Body = readFileSync(path.join(scratch, 'cut', each))
    const object = { Bucket: bucket.name, Key: each.slice(1), Body, ACL: 'public-read' } as const
    await bucket.client.send(new PutObjectCommand(object))
  }
  const pass = [
    `location / { proxy_pass http://store/${bucket.name}/;`,
    'proxy_http_version 1.1; proxy_set_header Connection ""; }',
  ].join(' ')
  const nginx = await startNginx({
    servers: { cold: pass, warm: `proxy_cache segments; proxy_cache_valid 200 1h; ${pass}` },
    shared: [
      `  upstream store { server ${new URL(store.endpoint).host}; keepalive 32; }`,
      `  proxy_cache_path ${path.join(scratch, 'nginx-cache')} keys_zone=segments:10m;`,
      // Debian's buffers would write segments to disk.
      '  proxy_buffers 16 64k;',
      '  proxy_max_temp_file_size 0;',
    ],
    scratch,
    wrapper: pin(0),
    workers: 1,
  })
  stops.push(() => nginx.stop())
  return nginx
}
