// `npm run bench -- cluster`: segments from an object store, beside nginx as a proxy of objects
// that have the bytes of the segments.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { playlistApiPath } from '../shared/paths.ts'
import { createBucket } from '../test/support/servers/bucket.ts'
import type { TestBucket } from '../test/support/servers/bucket.ts'
import { awsEnvironment, startObjectStore } from '../test/support/servers/object-store.ts'
import { cutSegments, listSegments, scatter } from './cut-segments.ts'
import type { Bench } from './harness.ts'
import { hasProgram } from './machine.ts'
import { ensureMedia, sessionOf } from './media.ts'
import type { MediaFormat } from './media.ts'
import { formatRows, measureRows } from './measure.ts'
import type { Row } from './measure.ts'
import { startNginx } from './nginx.ts'
import type { StartedNginx } from './nginx.ts'

const FORMATS = ['mp4', 'ts'] as const
/** Segments that fit into the block cache. */
const WARM_SEGMENTS = 8
const STATES = ['cold', 'warm'] as const

/**
 * More segments than a cache holds are requested again and again in one order, so that a cache of
 * recent blocks has none of them; then a few that it holds.
 */
export async function benchCluster(bench: Bench): Promise<string[]> {
  const library = ensureMedia(bench.options)
  const store = await startObjectStore()
  bench.defer(async () => store.stop())
  const bucket = await createBucket(store)
  await bucket.putTree(library.folder, 'library/')
  const { url: origin, pid } = await bench.startNode({
    recordings: `s3://${bucket.name}/library`,
    environment: {
      ...awsEnvironment(store),
      AFTERCAST_S3_PATH_STYLE: 'true',
      AFTERCAST_HLS_ENCRYPTION: 'none',
    },
  })
  const cut = path.join(bench.scratch, 'cut')
  const lists: { format: MediaFormat; paths: string[]; files: string[] }[] = []
  for (const format of FORMATS.slice(0, bench.options.isSmoke ? 1 : undefined)) {
    const paths = await listSegments(origin + playlistApiPath(sessionOf(format)))
    lists.push({ format, paths, files: await cutSegments({ origin, paths }, cut, format) })
  }
  const all = lists.flatMap(({ files }) => files)
  const nginx = hasProgram('nginx')
    ? await startRival(bench, { endpoint: store.endpoint, bucket, files: all })
    : undefined
  const rows = STATES.flatMap((state) => {
    const isWarm = state === 'warm'
    const choose = (paths: readonly string[]) => {
      const chosen = isWarm ? paths.slice(0, WARM_SEGMENTS) : scatter(paths)
      return { paths: () => chosen, warmUpRounds: isWarm ? 1 : 0 }
    }
    return lists.flatMap(({ format, paths, files }): Row[] => {
      const name = `nginx ${format} ${state}`
      const ours = { name: `ours ${format} ${state}`, pid, origin, beside: [name] }
      if (nginx === undefined) return [{ ...ours, ...choose(paths) }]
      const rival = { name, pid: nginx.pid, origin: nginx.origins[state] }
      return [
        { ...ours, ...choose(paths) },
        { ...rival, ...choose(files) },
      ]
    })
  })
  return formatRows(await measureRows(rows, bench))
}

interface Rival {
  endpoint: string
  bucket: TestBucket
  /** Paths of the files that have the segments. */
  files: readonly string[]
}

/** With the segments as public objects. */
async function startRival(
  bench: Bench,
  { endpoint, bucket, files }: Rival,
): Promise<StartedNginx<(typeof STATES)[number]>> {
  for (const each of files) {
    const Body = readFileSync(path.join(bench.scratch, 'cut', each))
    const object = { Bucket: bucket.name, Key: each.slice(1), Body, ACL: 'public-read' } as const
    await bucket.client.send(new PutObjectCommand(object))
  }
  const pass = [
    `location / { proxy_pass http://store/${bucket.name}/;`,
    'proxy_http_version 1.1; proxy_set_header Connection ""; }',
  ].join(' ')
  return startNginx(bench, {
    servers: { cold: pass, warm: `proxy_cache segments; proxy_cache_valid 200 1h; ${pass}` },
    shared: [
      `upstream store { server ${new URL(endpoint).host}; keepalive 32; }`,
      `proxy_cache_path ${path.join(bench.scratch, 'nginx-cache')} keys_zone=segments:10m;`,
      // Debian's buffers would write segments to disk.
      'proxy_buffers 16 64k;',
      'proxy_max_temp_file_size 0;',
    ],
    workers: 1,
  })
}
