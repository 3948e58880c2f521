// `npm run bench -- segments`: throughput of segments: ours, packaged just in time, and nginx with
// the same bytes from files.
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
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
type ServerForm = 'plain' | 'aes' | 'cached' | 'all cores'

const PLAIN = { server: 'plain', order: 'scattered', beside: 'mp4 plain' } as const
const ZIPF = { formats: ZIPF_FORMATS, order: 'zipf' } as const
const PLANS: readonly RowPlan[] = [
  { name: 'mp4 plain', server: 'plain', formats: ['mp4'], order: 'cut', isInSmoke: true },
  { name: 'ts plain', server: 'plain', formats: ['ts'], order: 'cut' },
  { ...PLAIN, name: 'mkv plain', formats: ['mkv'], isInSmoke: true },
  { ...PLAIN, name: 'flv plain', formats: ['flv'] },
  { ...PLAIN, name: 'fmp4 plain', formats: ['fmp4'] },
  {
    name: 'mp4 plain, all cores',
    server: 'all cores',
    formats: ['mp4'],
    order: 'cut',
    beside: 'mp4 plain',
  },
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
  const servers = new Map<ServerForm, StartedServer>()
  const competitors = new Map<number, FileServer | undefined>()
  const vod = await startVod(bench, library)
  const cutRoot = path.join(bench.options.cache, `cut-${library.name}`)
  const rows: Row[] = []
  for (const plan of plans) {
    const server = servers.get(plan.server) ?? (await startOurs(bench, library, plan.server))
    servers.set(plan.server, server)
    const workers = plan.server === 'all cores' ? availableParallelism() : 1
    const nginx = competitors.get(workers) ?? (await startCompetitor(bench, cutRoot, workers))
    competitors.set(workers, nginx)
    rows.push(...(await prepareRow(plan, { server, nginx, vod, cutRoot })))
  }
  return rows
}

/** One worker on one processor, so that a row is one processor's work; or as many as there are. */
async function startOurs(
  bench: Bench,
  library: BenchLibrary,
  form: ServerForm,
): Promise<StartedServer> {
  const isPlain = form === 'plain' || form === 'all cores'
  return bench.startNode({
    recordings: library.folder,
    // The index is reused between runs, as are the encrypted files, by the secret.
    data: path.join(bench.options.cache, `data-${library.name}-${form.replace(' ', '-')}`),
    workers: form === 'all cores' ? availableParallelism() : 1,
    environment: {
      AFTERCAST_HLS_ENCRYPTION: isPlain ? 'none' : 'aes-128',
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

/** With one worker on the processor that ours has; undefined where it is not installed. */
async function startCompetitor(
  bench: Bench,
  cutRoot: string,
  workers: number,
): Promise<FileServer | undefined> {
  if (!hasProgram('nginx')) return undefined
  return startNginx(bench, { servers: FILE_FORMS, shared: [`root ${quote(cutRoot)};`], workers })
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
  nginx: FileServer | undefined
  vod: VodServer | undefined
  cutRoot: string
}

async function prepareRow(
  { name, formats, order, beside }: RowPlan,
  { server: { url: origin, pid }, nginx, vod, cutRoot }: Servers,
): Promise<Row[]> {
  const playlists = formats.map((format) => origin + playlistApiPath(sessionOf(format)))
  const lists = await Promise.all(playlists.map(listSegments))
  const paths = lists.flat()
  const scattered = scatter(paths)
  const rivals: Row[] = []
  if (order === 'cut' && nginx !== undefined) {
    const folder = name.replace(', all cores', '').replace(' ', '-')
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
  const ours: Row = {
    name: `ours ${name}`,
    pid,
    origin,
    paths: order === 'zipf' ? zipf(paths) : () => scattered,
    warmUpRounds: order === 'zipf' ? ZIPF_WARM_UP_ROUNDS : 0,
    beside: [...rivals.map((row) => row.name), ...(beside === undefined ? [] : [`ours ${beside}`])],
  }
  return [ours, ...rivals]
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
