// Takes the screenshots in docs/screenshots: the three pages of the demo library and the operator's
// page, at the widths of a phone, a tablet and a desktop.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { chromium, type Browser, type Page } from '@playwright/test'
import { z } from 'zod'
import { streamersResponse } from '../shared/contract.ts'
import {
  playerPagePath,
  sessionKey,
  sessionsPagePath,
  streamersApiPath,
  watchPagePath,
} from '../shared/paths.ts'
import { parseShape } from '../shared/shape.ts'
import { findFreePort } from '../test/support/servers/free-port.ts'
import { startServer } from '../test/support/servers/start-server.ts'
import { findProgram } from './programs.mjs'

const sizes = [
  { width: 360, height: 780 },
  { width: 768, height: 1024 },
  { width: 1440, height: 900 },
]
const largestBytes = 150_000
const capture = z.object({ data: z.base64() })
const folder = path.join(path.dirname(import.meta.dirname), 'docs/screenshots')

/** Sessions of the demo library that overlap. */
const [evening, ...besideIt] = [
  { streamer: 'AmberWaves', date: '2025-10-11', sessionId: '1001' },
  { streamer: 'QuietCartographer', date: '2025-10-11', sessionId: '61' },
  { streamer: 'Old Harbour Radio', date: '2025-10-11', sessionId: '4' },
] as const
const others = String(new URLSearchParams({ with: besideIt.map(sessionKey).join(',') }))
const MOMENT_SECONDS = 1800

const executablePath = findProgram('Chromium')
if (executablePath === undefined) throw new Error('Screenshots need Chromium.')
const data = await mkdtemp(path.join(tmpdir(), 'aftercast-screenshots-'))
const listener = `127.0.0.1:${await findFreePort()}`
const server = await startServer({
  args: ['--data', data],
  readyWithinMs: 180_000,
  environment: {
    AFTERCAST_METRICS: listener,
    AFTERCAST_OPERATOR_TOKEN: 'only for the screenshot',
  },
})
const args = ['--no-sandbox', '--disable-gpu', '--autoplay-policy=no-user-gesture-required']
const browser = await chromium.launch({ executablePath, args })
try {
  await mkdir(folder, { recursive: true })
  const operator = { name: 'operator', url: `http://${listener}/operator` }
  for (const { name, url } of [...(await choosePages(server.url)), operator]) {
    for (const size of sizes) await takeFrame({ browser, name, url, size })
  }
} finally {
  await browser.close()
  await server.stop()
  await rm(data, { recursive: true, force: true })
}

/** The pages: the list, the streamer with the most sessions, and an evening of several ones. */
async function choosePages(site: string): Promise<{ name: string; url: string }[]> {
  const { streamers } = parseShape(streamersResponse, await fetchJson(site + streamersApiPath))
  const [busiest] = streamers.toSorted((a, b) => b.recording_count - a.recording_count)
  if (busiest === undefined) throw new Error('the demo library has no streamer')
  return [
    { name: 'streamers', url: `${site}/` },
    { name: 'sessions', url: site + sessionsPagePath(busiest.name) },
    { name: 'player', url: `${site}${playerPagePath(evening)}?t=${MOMENT_SECONDS}` },
    { name: 'together', url: `${site}${watchPagePath(evening)}?${others}&t=${MOMENT_SECONDS}` },
  ]
}

interface Frame {
  browser: Browser
  name: string
  url: string
  size: { width: number; height: number }
}

async function takeFrame({ browser, name, url, size }: Frame): Promise<void> {
  const page = await browser.newPage({ viewport: size, colorScheme: 'dark' })
  await page.goto(url)
  await page
    .getByRole(name === 'operator' ? 'table' : 'listitem')
    .first()
    .waitFor()
  const isSession = name === 'player' || name === 'together'
  if (isSession) await showSession(page)
  // The first visit generates the thumbnails; the second shows all of them.
  await page.waitForLoadState('networkidle')
  if (!isSession) await page.reload({ waitUntil: 'networkidle' })
  const devtools = await page.context().newCDPSession(page)
  // Playwright writes only PNG and JPEG; WebP is a fifth of the size.
  const options = { format: 'webp', quality: 82 } as const
  const { data: encoded } = capture.parse(await devtools.send('Page.captureScreenshot', options))
  const bytes = Buffer.from(encoded, 'base64')
  const file = `${name}-${size.width}.webp`
  if (bytes.length > largestBytes) throw new Error(`${file} has ${bytes.length} bytes`)
  await writeFile(path.join(folder, file), bytes)
  console.log(`${file}: ${Math.round(bytes.length / 1000)} kB`)
  await page.close()
}

/** Ends the pre-roll, shows the chat where there is room, and lets the session play a little. */
async function showSession(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Close ad' }).click()
  const video = page.locator('video').first()
  const position = async () =>
    video.evaluate((element) => Number(Reflect.get(element, 'currentTime')))
  if ((page.viewportSize()?.width ?? 0) > 1000) {
    await page.getByRole('button', { name: 'Chat', exact: true }).click()
    await page.getByRole('log').getByText(/./).first().waitFor()
    // The click has scrolled.
    await page.evaluate('scrollTo(0, 0)')
  }
  while ((await position()) < MOMENT_SECONDS + 8) await page.waitForTimeout(200)
}

async function fetchJson(url: string): Promise<unknown> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) })
  return answer.json()
}
