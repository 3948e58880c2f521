// `npm run bench -- page-plays`: the built page in a real browser, and two pages beside it: a bare
// one, and one with another player. The program that measures them may speak of documents.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { findProgram } from '../scripts/programs.mjs'
import { playerPagePath, playlistApiPath, sessionsPagePath } from '../shared/paths.ts'
import { fetchPlaylist } from '../test/support/servers/hls-client.ts'
import { waitUntilListed } from './endurance/listing.ts'
import type { Bench } from './harness.ts'
import { DAY, ensureMedia, segmentByFfmpeg, sessionOf } from './media.ts'
import { FILE_FORMS, quote, startNginx } from './nginx.ts'
import { formatTable, median } from './table.ts'

/** What `page/plays.ts` measures. */
export interface PagePlan {
  /** Path of the browser. */
  chromium: string
  pages: readonly Page[]
  /** Length of the recordings. */
  mediaSeconds: number
  rounds: number
  /** Only rows whose names contain this. */
  rows: string
  isSmoke: boolean
}

/** A site with a page that plays a recording, and one with a link to it. */
export interface Page {
  name: string
  origin: string
  /** Paths. */
  list: string
  player: string
}

export interface PageRow {
  /** And the link. */
  action: string
  page: string
  samples: PageSample[]
}

interface PageSample {
  milliseconds: number
  /** Times are milliseconds since the beginning; negative ones are before a click. */
  loads: { url: string; startMs: number; firstByteMs: number; endMs: number; bytes: number }[]
}

const PROGRAM = path.resolve(import.meta.dirname, 'page/plays.ts')
/** In `page/`, with the name of the page. */
const OTHERS = ['bare', 'vidstack'] as const

/** Writes the waterfalls to a file. */
export async function benchPage(bench: Bench): Promise<string[]> {
  const chromium = findProgram('Chromium')
  if (chromium === undefined) return ['page-plays: there is no Chromium on this machine']
  const { isSmoke, mediaSeconds, rounds, rows: wanted, cache } = bench.options
  const formats = isSmoke ? (['mp4'] as const) : (['mp4', 'ts'] as const)
  const { folder, outputs } = ensureMedia(bench.options, formats)
  // On both processors, as the browser is.
  const workers = isSmoke ? 1 : 2
  const { url: origin } = await bench.startNode({ recordings: folder, workers, processor: 'any' })
  await waitUntilListed(origin, formats.length)
  const pages: Page[] = formats.map((format) => ({
    name: `ours, ${format}`,
    origin,
    list: sessionsPagePath(DAY.streamer),
    player: playerPagePath(sessionOf(format)),
  }))
  for (const format of formats) await fetchPlaylist(origin + playlistApiPath(sessionOf(format)))
  if (!isSmoke) pages.push(...(await startOthers(bench, outputs[0]?.path ?? '')))
  const plan: PagePlan = { chromium, pages, mediaSeconds, rounds, rows: wanted, isSmoke }
  const args = [PROGRAM, JSON.stringify(plan)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error('the page could not be measured')
  const rows = JSON.parse(output) as PageRow[]
  const waterfalls = path.join(cache, 'page-plays.md')
  writeFileSync(waterfalls, rows.flatMap(formatWaterfall).join('\n'))
  const head = ['what', 'p50 ms', 'best', 'worst', 'requests', 'MB', 'of best']
  return [
    ...formatTable(head, ...rows.map((row) => formatRow(row, rows))),
    `Complete responses before the first frame. Waterfalls of the last round: ${waterfalls}`,
  ]
}

/**
 * The same recording in segments that ffmpeg has made, of the length that is usual, and hls.js: in
 * a page that has no more, and in the player of Vidstack.
 */
async function startOthers(bench: Bench, recording: string): Promise<Page[]> {
  const site = path.join(bench.scratch, 'others')
  mkdirSync(path.join(site, 'media'), { recursive: true })
  segmentByFfmpeg(recording, path.join(site, 'media'))
  const installed = (name: string): string => fileURLToPath(import.meta.resolve(name))
  copyFileSync(installed('hls.js/dist/hls.light.min.js'), path.join(site, 'hls.min.js'))
  const vidstack = path.dirname(installed('vidstack/package.json'))
  cpSync(path.join(vidstack, 'cdn'), path.join(site, 'player'), { recursive: true })
  const style = 'player/styles/default/theme.css'
  copyFileSync(path.join(vidstack, style), path.join(site, 'theme.css'))
  const serve = (name: string): string => {
    copyFileSync(path.resolve(import.meta.dirname, `page/${name}.html`), `${site}/${name}.html`)
    return `root ${quote(site)}; index ${name}.html; location / { try_files $uri /${name}.html; }`
  }
  const { origins } = await startNginx(bench, {
    servers: { bare: serve('bare'), vidstack: serve('vidstack') },
    shared: [
      FILE_FORMS.default,
      'types { text/html html; text/css css; text/javascript js;',
      'application/vnd.apple.mpegurl m3u8; }',
      'gzip on; gzip_types text/css text/javascript application/vnd.apple.mpegurl;',
    ],
    workers: 2,
  })
  return OTHERS.map((name) => ({ name, origin: origins[name], list: '/', player: '/watch' }))
}

function formatRow({ action, page, samples }: PageRow, rows: readonly PageRow[]): string[] {
  const others = rows.filter((row) => row.action === action && isOther(row.page))
  const times = samples.map(({ milliseconds }) => milliseconds)
  const loaded = samples.map(({ milliseconds, loads }) =>
    loads.filter(({ endMs }) => endMs <= milliseconds),
  )
  const bytes = loaded.map((loads) => loads.reduce((sum, load) => sum + load.bytes, 0))
  const medians = others.map((row) => median(row.samples.map((one) => one.milliseconds)))
  const ratio = median(times) / Math.min(...medians)
  return [
    `${action}: ${page}`,
    ...[median(times), Math.min(...times), Math.max(...times)].map((ms) => ms.toFixed(0)),
    String(median(loaded.map((loads) => loads.length))),
    (median(bytes) / 1e6).toFixed(2),
    medians.length === 0 ? '-' : `${ratio.toFixed(2)}x`,
  ]
}

function isOther(page: string): boolean {
  return OTHERS.some((other) => other === page)
}

function formatWaterfall({ action, page, samples }: PageRow): string[] {
  const { milliseconds = NaN, loads = [] } = samples.at(-1) ?? {}
  const lines = loads.toSorted((a, b) => a.startMs - b.startMs)
  return [
    `## ${action}: ${page}, ${milliseconds.toFixed(0)} ms`,
    '',
    ...formatTable(
      ['request', 'start ms', 'first byte', 'end', 'kB'],
      ...lines.map(({ url, startMs, firstByteMs, endMs, bytes }) => [
        url,
        ...[startMs, firstByteMs, endMs, bytes / 1000].map((figure) => figure.toFixed(0)),
      ]),
    ),
  ]
}
