// The rows of the segments benchmark: which segments are requested from which server.
import { statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { createRandom } from '../../server/demo/random.ts'
import { fetchPlaylist } from '../../test/support/servers/hls-client.ts'
import { startServer } from '../../test/support/servers/start-server.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import { cutSegments, scatter } from './cut-segments.ts'
import { hasProgram } from '../machine.ts'
import type { BenchLibrary, MediaFormat } from '../make-media.ts'
import type { Row } from '../measure.ts'
import { FILE_FORMS, quote, startNginx } from './nginx.ts'
import type { StartedNginx } from './nginx.ts'
import type { BenchOptions } from '../options.ts'
import type { Pin } from '../pin.ts'

type FileServer = StartedNginx<keyof typeof FILE_FORMS>

/** As the configuration has it. */
const SEGMENT_SECONDS = 6
/** Number of segments that the popular ones are chosen from, and of requests in a round. */
const ZIPF_SEGMENTS = 2000
const ZIPF_REQUESTS = 8000
const ZIPF_FORMATS: readonly MediaFormat[] = ['mp4', 'ts', 'mkv', 'fmp4']
/** The cache has room for this share of them. */
const ZIPF_CACHED_SHARE = 1 / 5

/** A row before its servers start. `cut`: compared with nginx. */
interface RowPlan {
  name: string
  server: ServerForm
  formats: readonly MediaFormat[]
  order: 'cut' | 'scattered' | 'zipf'
}

/** Ours, set up in one of several ways; the cache is off but where it is what is measured. */
type ServerForm = 'plain' | 'aes' | 'cached' | 'all cores'

const PLANS: readonly RowPlan[] = [
  { name: 'mp4 plain', server: 'plain', formats: ['mp4'], order: 'cut' },
  { name: 'ts plain', server: 'plain', formats: ['ts'], order: 'cut' },
  { name: 'mkv plain', server: 'plain', formats: ['mkv'], order: 'scattered' },
  { name: 'flv plain', server: 'plain', formats: ['flv'], order: 'scattered' },
  { name: 'fmp4 plain', server: 'plain', formats: ['fmp4'], order: 'scattered' },
  { name: 'mp4 plain, all cores', server: 'all cores', formats: ['mp4'], order: 'cut' },
  { name: 'mp4 aes', server: 'aes', formats: ['mp4'], order: 'cut' },
  { name: 'ts aes', server: 'aes', formats: ['ts'], order: 'cut' },
  ...(['aes', 'cached'] as const).map((server): RowPlan => ({
    name: server === 'aes' ? 'zipf aes' : 'zipf aes, cache of a fifth',
    server,
    formats: ZIPF_FORMATS,
    order: 'zipf',
  })),
]

/** One row of each order, and one of each form of server. */
const SMOKE_ROWS: ReadonlySet<string> = new Set([
  'mp4 plain',
  'mkv plain',
  'mp4 plain, all cores',
  'mp4 aes',
  'zipf aes',
  'zipf aes, cache of a fifth',
])

/** The rows whose names contain the value of `--rows`; all without one, few in smoke runs. */
export function chooseRows({ rows, isSmoke }: BenchOptions): RowPlan[] {
  const chosen = PLANS.filter(
    ({ name }) => name.includes(rows) && (!isSmoke || SMOKE_ROWS.has(name)),
  )
  if (chosen.length > 0) return chosen
  throw new TypeError(
    `--rows: there is no '${rows}' in ${PLANS.map(({ name }) => name).join('; ')}`,
  )
}

export interface RowSetting {
  options: BenchOptions
  library: BenchLibrary
  /** Folder of the segments that nginx sends. */
  cutRoot: string
  scratch: string
  pin: Pin
  /** What has to be ended when all is over. */
  stops: (() => Promise<unknown>)[]
}

/** Starts the servers of the rows; rows of nginx follow ours. */
export async function prepareRows(plans: readonly RowPlan[], setting: RowSetting): Promise<Row[]> {
  const servers = new Map<ServerForm, StartedServer>()
  const competitors = new Map<number, FileServer | undefined>()
  const rows: Row[] = []
  for (const plan of plans) {
    const server = servers.get(plan.server) ?? (await startOurs(setting, plan.server))
    servers.set(plan.server, server)
    const workers = plan.server === 'all cores' ? availableParallelism() : 1
    const nginx = competitors.get(workers) ?? (await startCompetitor(setting, workers))
    competitors.set(workers, nginx)
    rows.push(...(await prepareRow(plan, { server, nginx }, setting)))
  }
  return rows
}

/** With one worker on the processor that ours has; undefined where it is not installed. */
async function startCompetitor(
  { cutRoot, scratch, pin, stops }: RowSetting,
  workers: number,
): Promise<FileServer | undefined> {
  if (!hasProgram('nginx')) return undefined
  const wrapper = workers === 1 ? pin(0) : []
  const shared = [`  root ${quote(cutRoot)};`]
  const nginx = await startNginx({ servers: FILE_FORMS, shared, scratch, wrapper, workers })
  stops.push(() => nginx.stop())
  return nginx
}

interface Servers {
  server: StartedServer
  nginx: FileServer | undefined
}

async function prepareRow(
  { name, formats, order }: RowPlan,
  { server: { url, pid }, nginx }: Servers,
  { library, cutRoot }: RowSetting,
): Promise<Row[]> {
  const ours = { name: `ours ${name}`, pid, origin: url }
  const playlists = formats.map(
    (format) => `${url}/api/video/${library.sessions[format]}/playlist.m3u8`,
  )
  if (order === 'cut' && nginx !== undefined) {
    const folder = name.replace(', all cores', '').replace(' ', '-')
    const splitPoint = await cutSegments(playlists[0] ?? '', cutRoot, folder)
    const [serverPaths, filePaths] = [
      scatter(splitPoint.serverPaths),
      scatter(splitPoint.filePaths),
    ]
    return [{ ...ours, paths: () => serverPaths }, ...nginxRows(nginx, name, filePaths)]
  }
  const paths = await listPaths(playlists)
  if (order === 'zipf') return [{ ...ours, isWarmedUp: true, paths: zipf(paths) }]
  const scattered = scatter(paths)
  return [{ ...ours, paths: () => scattered }]
}

async function listPaths(playlists: readonly string[]): Promise<string[]> {
  const lists: string[][] = []
  for (const playlist of playlists) {
    const { segments } = await fetchPlaylist(playlist)
    lists.push(segments.map(({ url }) => new URL(url).pathname))
  }
  return lists.flat()
}

/** Zipf's law with exponent 1.0: the n-th most popular is requested 1/n times as often. */
function zipf(paths: readonly string[]): (round: number) => string[] {
  const shuffle = createRandom(1)
  const ranked = paths
    .map((each) => ({ each, at: shuffle() }))
    .toSorted((a, b) => a.at - b.at)
    .slice(0, ZIPF_SEGMENTS)
    .map(({ each }) => each)
  let sum = 0
  const sums = ranked.map((_, rank) => (sum += 1 / (rank + 1)))
  return (round) => {
    const random = createRandom(round + 2)
    return Array.from({ length: ZIPF_REQUESTS }, () => {
      const wanted = random() * sum
      return ranked[sums.findIndex((each) => each > wanted)] ?? ''
    })
  }
}

function zipfCacheMegabytes({ outputs }: BenchLibrary, { mediaSeconds }: BenchOptions): number {
  const files = outputs.filter(({ format }) => ZIPF_FORMATS.includes(format))
  const bytes = files.reduce((sum, file) => sum + statSync(file.path).size, 0)
  const segments = (files.length * mediaSeconds) / SEGMENT_SECONDS
  const asked = Math.min(1, ZIPF_SEGMENTS / segments)
  return Math.ceil((bytes * asked * ZIPF_CACHED_SHARE) / 1e6)
}

function nginxRows({ pid, origins }: FileServer, name: string, filePaths: string[]): Row[] {
  const splitPoint = name.replace('aes', 'aes, encrypted before')
  return (['default', 'tuned'] as const).map((form) => ({
    name: `nginx ${form} ${splitPoint}`,
    pid,
    origin: origins[form],
    paths: () => filePaths,
  }))
}

/** One worker on one processor, so that a row is one processor's work; or as many as there are. */
async function startOurs(
  { library, options, pin, stops }: RowSetting,
  form: ServerForm,
): Promise<StartedServer> {
  const encryption = form === 'plain' || form === 'all cores' ? 'none' : 'aes-128'
  // The index is reused between runs, as are the encrypted files, by the secret.
  const data = path.join(options.cache, `data-${library.name}-${form.replace(' ', '-')}`)
  const server = await startServer({
    args: [library.folder, '--data', data],
    wrapper: form === 'all cores' ? [] : pin(0),
    environment: {
      ...(form !== 'all cores' && { AFTERCAST_WORKERS: '1' }),
      AFTERCAST_HLS_ENCRYPTION: encryption,
      AFTERCAST_HLS_SECRET: 'the same secret in all data folders',
      AFTERCAST_HLS_CACHE_MEGABYTES:
        form === 'cached' ? String(zipfCacheMegabytes(library, options)) : '0',
    },
  })
  stops.push(() => server.stop())
  return server
}
