// Lighthouse's four scores of the three routes, and what it found wrong.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureBuilt } from '../../scripts/prepare.mjs'
import { findChromium } from '../../scripts/find/find-chromium.mjs'
import { playerPagePath, sessionsPagePath } from '../../shared/paths.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable, median } from '../table.ts'
import { ensureRecordings, PLAYED } from './library.ts'
import { indexLibrary, serveLibrary } from './site.ts'

const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const
/** Chromium needs as much to begin with, and Lighthouse waits for the page to be quiet. */
const RUN_LIMIT_MS = 180_000
const MAX_TRIES = 3

type Category = (typeof CATEGORIES)[number]

/** What this reads of Lighthouse's report. */
interface Report {
  categories: Record<
    Category,
    { score: number | null; auditRefs: { id: string; weight: number }[] }
  >
  audits: Record<string, { id: string; score: number | null; displayValue?: string }>
}

export async function benchLighthouse(options: BenchOptions): Promise<void> {
  const program = findLighthouse()
  if (program === undefined) {
    console.log('There is no lighthouse on this machine: npm install --global lighthouse@13')
    return
  }
  await ensureBuilt()
  const library = await ensureRecordings(options)
  indexLibrary(library)
  const server = await serveLibrary(library)
  try {
    const session = { ...PLAYED, sessionId: 'hour' }
    const routes = ['/', sessionsPagePath(PLAYED.streamer), playerPagePath(session)]
    const rows = routes.map((route) => {
      const reports: Report[] = []
      for (let round = 0; round < options.rounds; round += 1) {
        console.error(`page-lighthouse: ${route}, round ${round + 1} of ${options.rounds}`)
        reports.push(tryLighthouse(program, server.url + route))
      }
      return { route, reports }
    })
    const cells = rows.map(({ route, reports }) => [
      route,
      ...CATEGORIES.map((category) => median(reports.map((report) => scoreOf(report, category)))),
    ])
    const lines = cells.map((row) => row.map(String))
    for (const line of formatTable([['route', ...CATEGORIES], ...lines])) console.log(line)
    for (const { route, reports } of rows) {
      for (const line of new Set(reports.flatMap(findFaults))) console.log(`${route}: ${line}`)
    }
  } finally {
    await server.stop()
  }
}

function findLighthouse(): string | undefined {
  const { status, stdout } = spawnSync('which', ['lighthouse'], { encoding: 'utf8' })
  return status === 0 ? realpathSync(stdout.trim()) : undefined
}

/** It sometimes loses the trace of a page and requests another run. */
function tryLighthouse(program: string, url: string, triesLeft = MAX_TRIES): Report {
  try {
    return runLighthouse(program, url)
  } catch (error) {
    if (triesLeft <= 1 || !/run Lighthouse again/.test(String(error))) throw error
    console.error('page-lighthouse: the trace was lost, once more')
    return tryLighthouse(program, url, triesLeft - 1)
  }
}

/** One run in a browser of its own, with the preset for phones, which is the default. */
function runLighthouse(program: string, url: string): Report {
  const folder = mkdtempSync(path.join(tmpdir(), 'aftercast-lighthouse-'))
  try {
    const output = path.join(folder, 'report.json')
    const { status, stderr } = spawnSync(
      process.execPath,
      [
        program,
        url,
        '--quiet',
        '--output=json',
        `--output-path=${output}`,
        `--only-categories=${CATEGORIES.join(',')}`,
        '--chrome-flags=--headless=new --no-sandbox --disable-gpu',
      ],
      {
        encoding: 'utf8',
        timeout: RUN_LIMIT_MS,
        env: { ...process.env, CHROME_PATH: findChromium() ?? '' },
      },
    )
    if (status !== 0) throw new Error(`lighthouse failed: ${stderr}`)
    // Its own format: what is read of it is in the type.
    return JSON.parse(readFileSync(output, 'utf8')) as Report
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function scoreOf({ categories }: Report, category: Category): number {
  return Math.round((categories[category].score ?? NaN) * 100)
}

/** Audits that count and are not perfect. */
function findFaults({ categories, audits }: Report): string[] {
  return CATEGORIES.flatMap((category) =>
    categories[category].auditRefs
      .filter(({ weight }) => weight > 0)
      .flatMap(({ id }) => audits[id] ?? [])
      .filter(({ score }) => score !== null && score < 0.9)
      .map(({ id, displayValue = '' }) => `${category}: ${id} ${displayValue}`.trim()),
  )
}
