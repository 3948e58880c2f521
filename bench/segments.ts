// `npm run bench -- segments`: throughput of segments: ours, packaged just in time, and nginx with
// the same bytes from files.
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import path from 'node:path'
import { createRandom } from '../server/demo/random.ts'
import { playlistApiPath } from '../shared/paths.ts'
import type { StartedServer } from '../test/support/servers/start-server.ts'
import { cutSegments, listSegments, scatter } from './cut-segments.ts'
import type { Bench } from './harness.ts'
import { hasProgram } from './machine.ts'
import { DAY, ensureMedia, sessionOf } from './media.ts'
import type { BenchLibrary, MediaFormat } from './media.ts'
import { figureOf, formatRows, measureRows } from './measure.ts'
import type { MeasuredRow, Row } from './measure.ts'
import { FILE_FORMS, quote, startNginx, VOD_FORMS, VOD_SETTINGS } from './nginx.ts'
import type { StartedNginx } from './nginx.ts'
import { formatTable } from './table.ts'

type FileServer = StartedNginx<keyof typeof FILE_FORMS>
type VodServer = StartedNginx<keyof typeof VOD_FORMS>

/** As the configuration has it. */
const SEGMENT_SECONDS = 6
/** Number of segments that the popular ones are chosen from, and of requests in a round. */
const ZIPF_SEGMENTS = 2000
const ZIPF_REQUESTS = 8000
const ZIPF_FORMATS: readonly MediaFormat[] = ['mp4', 'ts', 'mkv', 'fmp4']
/** The cache has room for this share of them. */
const ZIPF_CACHED_SHARE = 1 / 5
/** The popular have to be known as such, and to be encrypted once, before that is measured. */
const ZIPF_WARM_UP_ROUNDS = 10

/** A row before its servers start. `cut`: compared with nginx. */
interface RowPlan {
  name: string
  server: ServerForm
  formats: readonly MediaFormat[]
  order: 'cut' | 'scattered' | 'zipf'
  beside?: string
  isInSmoke?: boolean
}

/** Ours, set up in one of several ways; the cache is off but where it is what is measured. */
type ServerForm = 'plain' | 'aes' | 'cached'

const PLAIN = { server: 'plain', order: 'scattered', beside: 'mp4 plain' } as const
const ZIPF = { formats: ZIPF_FORMATS, order: 'zipf' } as const
const PLANS: readonly RowPlan[] = [
  { name: 'mp4 plain', server: 'plain', formats: ['mp4'], order: 'cut', isInSmoke: true },
  { name: 'ts plain', server: 'plain', formats: ['ts'], order: 'cut' },
  { ...PLAIN, name: 'mkv plain', formats: ['mkv'], isInSmoke: true },
  { ...PLAIN, name: 'flv plain', formats: ['flv'] },
  { ...PLAIN, name: 'fmp4 plain', formats: ['fmp4'] },
  { name: 'mp4 aes', server: 'aes', formats: ['mp4'], order: 'cut' },
  { name: 'ts aes', server: 'aes', formats: ['ts'], order: 'cut' },
  { ...ZIPF, name: 'zipf aes', server: 'aes' },
  {
    ...ZIPF,
    name: 'zipf aes, cache of a fifth',
    server: 'cached',
    beside: 'zipf aes',
    isInSmoke: true,
  },
]

export async function benchSegments(bench: Bench): Promise<string[]> {
  const { rows, isSmoke } = bench.options
  const plans = PLANS.filter(
    ({ name, isInSmoke }) => name.includes(rows) && (!isSmoke || isInSmoke === true),
  )
  const names = PLANS.map(({ name }) => name).join('; ')
  if (plans.length === 0) throw new TypeError(`--rows: there is no '${rows}' in ${names}`)
  if (!hasProgram('nginx')) console.error('No rows of nginx: it is not installed.')
  const library = ensureMedia(bench.options)
  const measured = await measureRows(await prepareRows(plans, bench, library), bench)
  return [...formatRows(measured), ...compareCipher(measured, bench)]
}

/** Starts the servers of the rows; rows of nginx follow ours. */
async function prepareRows(
  plans: readonly RowPlan[],
  bench: Bench,
  library: BenchLibrary,
): Promise<Row[]> {
  const servers = new Map<string, StartedServer>()
  const start = async (form: ServerForm, checkout?: string): Promise<StartedServer> => {
    const key = `${form} ${checkout}`
    const server = servers.get(key) ?? (await startOurs(bench, library, { form, checkout }))
    servers.set(key, server)
    return server
  }
  const vod = await startVod(bench, library)
  const cutRoot = path.join(bench.options.cache, `cut-${library.name}`)
  const shared = [`root ${quote(cutRoot)};`]
  const nginx = hasProgram('nginx')
    ? await startNginx(bench, { servers: FILE_FORMS, shared, workers: 1 })
    : undefined
  const rows: Row[] = []
  for (const plan of plans) {
    const server = await start(plan.server)
    const { older: checkout } = bench.options
    const older = checkout === undefined ? undefined : await start(plan.server, checkout)
    rows.push(...(await prepareRow(plan, { server, older, nginx, vod, cutRoot })))
  }
  return rows
}

/** One worker on one processor, so that a row is one processor's work. */
async function startOurs(
  bench: Bench,
  library: BenchLibrary,
  { form, checkout }: { form: ServerForm; checkout: string | undefined },
): Promise<StartedServer> {
  return bench.startNode({
    recordings: library.folder,
    // The index is reused between runs, as are the encrypted files, by the secret.
    ...(checkout === undefined
      ? { data: path.join(bench.options.cache, `data-${library.name}-${form}`) }
      : { checkout }),
    environment: {
      AFTERCAST_HLS_ENCRYPTION: form === 'plain' ? 'none' : 'aes-128',
      AFTERCAST_HLS_SECRET: 'the same secret in all data folders',
      AFTERCAST_HLS_CACHE_MEGABYTES:
        form === 'cached' ? String(zipfCacheMegabytes(library, bench.options.mediaSeconds)) : '0',
    },
  })
}

function zipfCacheMegabytes({ outputs }: BenchLibrary, mediaSeconds: number): number {
  const files = outputs.filter(({ format }) => ZIPF_FORMATS.includes(format))
  const bytes = files.reduce((sum, file) => sum + statSync(file.path).size, 0)
  const segments = (files.length * mediaSeconds) / SEGMENT_SECONDS
  const asked = Math.min(1, ZIPF_SEGMENTS / segments)
  return Math.ceil((bytes * asked * ZIPF_CACHED_SHARE) / 1e6)
}

async function startVod(bench: Bench, { folder }: BenchLibrary): Promise<VodServer | undefined> {
  const { vod } = bench.options
  if (vod === '') return undefined
  const servers = { ...VOD_FORMS }
  for (const form of vodForms)
    servers[form] = `location / { root ${quote(folder)}; vod hls; ${VOD_FORMS[form]} }`
  return startNginx(bench, { servers, shared: VOD_SETTINGS, workers: 1, module: vod })
}

const isVodForm = (name: string): name is keyof typeof VOD_FORMS => name in VOD_FORMS
const vodForms = Object.keys(VOD_FORMS).filter(isVodForm)

interface Servers {
  server: StartedServer
  /** Of another release. */
  older: StartedServer | undefined
  nginx: FileServer | undefined
  vod: VodServer | undefined
  cutRoot: string
}

async function prepareRow(
  { name, formats, order, beside }: RowPlan,
  { server, older, nginx, vod, cutRoot }: Servers,
): Promise<Row[]> {
  const rowOf = (owner: string, { url: origin, pid }: StartedServer, paths: string[]): Row => {
    const scattered = scatter(paths)
    const isZipf = order === 'zipf'
    const choose = isZipf ? zipf(paths) : () => scattered
    const warmUpRounds = isZipf ? ZIPF_WARM_UP_ROUNDS : 0
    return { name: `${owner} ${name}`, pid, origin, paths: choose, warmUpRounds }
  }
  const origin = server.url
  const paths = await listAll(origin, formats)
  const rivals: Row[] = []
  if (older !== undefined) rivals.push(rowOf('older', older, await listAll(older.url, formats)))
  if (order === 'cut' && nginx !== undefined) {
    const folder = name.replace(' ', '-')
    const files = scatter(await cutSegments({ origin, paths }, cutRoot, folder))
    const label = name.replace('aes', 'aes, encrypted in advance')
    for (const form of ['default', 'tuned'] as const) {
      const rival = { name: `nginx ${form} ${label}`, pid: nginx.pid, origin: nginx.origins[form] }
      rivals.push({ ...rival, paths: () => files })
    }
  }
  if (vod !== undefined && isVodForm(name)) {
    const playlist = `${vod.origins[name]}/${DAY.streamer}/${DAY.date}/mp4.mp4/index-v1-a1.m3u8`
    const lines = (await (await fetch(playlist)).text()).split('\n')
    const uris = lines.filter((line) => line !== '' && !line.startsWith('#'))
    const files = scatter(uris.map((uri) => new URL(uri, playlist).pathname))
    const rival = { name: `nginx-vod ${name}`, pid: vod.pid, origin: vod.origins[name] }
    rivals.push({ ...rival, paths: () => files })
  }
  const others = [
    ...rivals.map((row) => row.name),
    ...(beside === undefined ? [] : [`ours ${beside}`]),
  ]
  return [{ ...rowOf('ours', server, paths), beside: others }, ...rivals]
}

async function listAll(origin: string, formats: readonly MediaFormat[]): Promise<string[]> {
  const playlists = formats.map((format) => origin + playlistApiPath(sessionOf(format)))
  return (await Promise.all(playlists.map(listSegments))).flat()
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
    const random = createRandom(round + ZIPF_WARM_UP_ROUNDS + 2)
    return Array.from({ length: ZIPF_REQUESTS }, () => {
      const wanted = random() * sum
      return ranked[sums.findIndex((each) => each > wanted)] ?? ''
    })
  }
}

/** What one processor can encrypt at most: AES-128-CBC as openssl measures itself. */
function compareCipher(measured: readonly MeasuredRow[], bench: Bench): string[] {
  const encrypted = measured.filter(({ row }) => /^ours (?:mp4|ts) aes$/.test(row.name))
  if (encrypted.length === 0 || !hasProgram('openssl')) return []
  const words = ['openssl', 'speed', '-mr', '-evp', 'aes-128-cbc', '-bytes', '1048576', '-seconds']
  const [command, ...args] = [...bench.pin(0), ...words, `${bench.options.rowSeconds}`]
  const { stdout } = spawnSync(command, args, { encoding: 'utf8' })
  const bytes = /^\+F:\d+:AES-128-CBC:(?<bytes>[\d.]+)$/m.exec(stdout)?.groups?.bytes
  const cipher = Number(bytes) / 1e6
  const rows = encrypted.map((one) => {
    const speed = figureOf(one, 'megabytesPerSecond')
    return [one.row.name, speed.toFixed(0), cipher.toFixed(0), `${(speed / cipher).toFixed(2)}x`]
  })
  return ['', ...formatTable(['ours', 'MB/s', 'openssl, MB/s', 'of it'], ...rows)]
}
