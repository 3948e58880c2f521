// The main visit in the three browser engines: find a streamer, play a session, follow a
// recommendation, go back.
import { findPrograms } from '../../scripts/programs.mjs'
import { embedPagePath } from '../../shared/paths.ts'
import { fixtureDate, fixtureStreamer, languages } from '../e2e/library.ts'
import { networkAds } from '../e2e/network-ads.ts'
import { expect, startSite, test as base } from '../e2e/site.ts'
import type { EnginePage } from './engine-page.ts'
import { findEngines, mainVideo } from './find-engines.ts'
import { openWebKitPage } from './webkit-page.ts'
import { proxyWithoutMediaSource } from './without-media-source.ts'

const test = base.extend({
  siteUrl: async ({ networkSiteUrl }, provide) => provide(networkSiteUrl),
})

const visitTitle = 'from the streamers to a video that plays, to a recommended one, and back'

for (const engine of findEngines()) {
  test(`${engine.name}: ${visitTitle}`, async ({ browser, siteUrl, network }) => {
    expect(network.requests()).toEqual([])
    const page = await engine.open(browser)
    try {
      await visit(page, siteUrl)
      await chooseTracks(page)
      await chooseQuality(page)
      await playEmbedded(page, siteUrl)
    } finally {
      await page.close()
    }
  })
}

const webKit = findPrograms('WebKitGTK')
if (webKit) {
  test('WebKitGTK without MediaSource: plays by its own HLS', async ({ network }) => {
    // GStreamer also decrypts the init segment of fMP4, which is not encrypted (RFC 8216 4.3.2.4).
    const origin = await startSite({
      ads: networkAds(network),
      hls: { encryption: 'none' },
    })
    const site = await proxyWithoutMediaSource(origin.url)
    const page = await openWebKitPage(webKit)
    try {
      await visit(page, site.url)
      expect(await page.evaluate(`'MediaSource' in globalThis`)).toBe(false)
      expect(await page.evaluate(`${mainVideo}.currentSrc`)).toMatch(/playlist\.m3u8$/)
      await chooseTracks(page, `/\\?audio=de$/.test(${mainVideo}.currentSrc)`)
      await playEmbedded(page, site.url)
    } finally {
      await page.close()
      await site.close()
      await origin.stop()
    }
  })
}

async function visit(page: EnginePage, site: string): Promise<void> {
  await page.open(`${site}/`)
  await heading(page, 'Streamers')
  await openStreamer(page, fixtureStreamer)
  const sessionId = 'ts-h264-aac-clean-hls-concat'
  const play = link('Sessions', `Session ${sessionId} •`, 'Play')
  await expect.poll(() => page.evaluate(restOn(play))).toBe(true)
  await expect.poll(() => page.evaluate(isPrepared)).toBe(true)
  await page.click(play)
  const title = `${fixtureStreamer} - ${fixtureDate} - ${sessionId}`
  await heading(page, title)
  await closePreroll(page)
  await playing(page)
  await expect.poll(() => page.evaluate(hasFrames)).toBe(true)

  await page.click(`(//ul[@aria-label="Recommended"]/li[not(.//*[@data-ad-block])]//a)[1]`)
  await expect.poll(() => page.evaluate(headingText)).not.toBe(title)
  expect(await page.evaluate('location.pathname')).toMatch(/^\/p\//)
  await closePreroll(page)
  await playing(page)

  await page.click('//main//button[normalize-space()="Back"]')
  await heading(page, title)
  await closePreroll(page)
  await playing(page)
}

/** Searches on the page of streamers. Cards move until the list shows the match alone. */
async function openStreamer(page: EnginePage, streamer: string): Promise<void> {
  await page.type('//input[@type="search"]', streamer)
  await expect.poll(() => page.evaluate(shownStreamers)).toBe(1)
  await page.click(link('Streamers', streamer, 'View Sessions'))
  await heading(page, `Sessions: ${streamer}`)
}

/**
 * Another audio and subtitles, in a session opened from the one that plays. `isChosen` is an
 * expression: whether the chosen audio is loaded.
 */
async function chooseTracks(page: EnginePage, isChosen = hasOtherAudio): Promise<void> {
  const { streamer, sessionId } = languages
  await page.click('//header//a[normalize-space()="Home"]')
  await openStreamer(page, streamer)
  await page.click(link('Sessions', `Session ${sessionId} •`, 'Play'))
  await heading(page, `${streamer} - ${fixtureDate} - ${sessionId}`)
  await closePreroll(page)
  await playing(page)
  await choose(page, 'Audio', 'Deutsch')
  await expect.poll(() => page.evaluate(isChosen)).toBe(true)
  await playing(page)
  await choose(page, 'Subtitles', 'Deutsch')
  await expect.poll(() => page.evaluate(shownCues)).toBe('Guten Abend')
}

/**
 * The sound alone of the session that plays, from its position, and the original again. Without an
 * audio device, Firefox plays audio alone only muted.
 */
async function chooseQuality(page: EnginePage): Promise<void> {
  for (const [quality, hasPicture] of [
    ['Sound only', false],
    ['Original', true],
  ] as const) {
    const before = Number(await page.evaluate(`${mainVideo}.currentTime`))
    await choose(page, 'Quality', quality)
    await expect.poll(() => page.evaluate(`${mainVideo}.videoWidth > 0`)).toBe(hasPicture)
    await expect.poll(() => page.evaluate(playsAfter(before))).toBe('it plays on')
  }
}

/** The page that other sites frame, with the player alone. */
async function playEmbedded(page: EnginePage, site: string): Promise<void> {
  const session = { streamer: fixtureStreamer, date: fixtureDate, sessionId: 'mkv-h264-aac-60s' }
  await page.open(site + embedPagePath(session))
  await closePreroll(page)
  await playing(page)
}

async function choose(page: EnginePage, menu: string, item: string): Promise<void> {
  await page.click(`//main//button[@aria-label="${menu}"]`)
  await page.click(`//*[@role="menuitemradio"][starts-with(normalize-space(), "${item}")]`)
}

/** Otherwise, the state of the video. */
function playsAfter(seconds: number): string {
  return `(({ currentTime, paused, seeking, readyState, buffered }) =>
    currentTime > ${seconds}
      ? 'it plays on'
      : JSON.stringify({ currentTime, paused, seeking, readyState, buffered:
          Array.from(buffered, (_, at) => [buffered.start(at), buffered.end(at)]) }))(${mainVideo})`
}

/** Whether a segment with the second audio is loaded. */
const hasOtherAudio = `performance.getEntriesByType('resource').some(({ name }) =>
  /\\/m1-\\d+\\.m4s$/.test(name))`

/** Whether the strip of moments shows images of the session. */
const hasFrames = `[...document.querySelectorAll('[aria-label="Moments"] [role="slider"] img')]
  .some(({ naturalWidth }) => naturalWidth > 0)`

const shownStreamers = `document.querySelectorAll(
  '[aria-label="Streamers"] li:not(:has([data-ad-block]))').length`

const headingText = `document.querySelector('h1')?.textContent`

function link(list: string, card: string, label: string): string {
  return `//ul[@aria-label="${list}"]/li[contains(., "${card}")]//a[normalize-space()="${label}"]`
}

/**
 * The event of a pointer over the element, which prepares the session. False before the element
 * exists.
 */
function restOn(xpath: string): string {
  const element = `document.evaluate(${JSON.stringify(xpath)}, document, null, 9).singleNodeValue`
  return `${element}?.dispatchEvent(new PointerEvent('pointerover', { bubbles: true })) ?? false`
}

/**
 * Whether the page has loaded the first segment of the session, or without MediaSource its
 * playlist.
 */
const isPrepared = `performance.getEntriesByType('resource').some(({ name }) =>
  ('MediaSource' in globalThis ? /\\.(?:ts|m4s)$/ : /\\.m3u8$/).test(name))`

async function heading(page: EnginePage, text: string): Promise<void> {
  await expect.poll(() => page.evaluate(headingText)).toBe(text)
}

/**
 * The ad plays, muted, while the recording waits; × closes it. The clock of these pages runs: where
 * the machine does not start the ad in time, the page plays the recording instead. test/e2e tests
 * the ad with a stopped clock.
 */
async function closePreroll(page: EnginePage): Promise<void> {
  const film = `document.querySelector('[data-preroll] video')`
  // In one call: the ad may end before the next one. A loop does not end.
  const state = `(() => {
    const film = ${film}
    const recording = ${mainVideo}
    if (!film) return recording?.currentTime > 0 ? 'recording' : ''
    film.loop = true
    if (!(film.currentTime > 0)) return ''
    return film.muted && recording.paused ? 'ad' : 'ad with audio, or over a recording that plays'
  })()`
  let found: unknown = ''
  await expect.poll(async () => (found = await page.evaluate(state))).toMatch(/^(?:ad|recording)$/)
  if (found === 'recording') return
  await page.click('//*[@data-preroll]//button[contains(@aria-label, "Close")]')
  await expect.poll(() => page.evaluate(`${film} === null`)).toBe(true)
}

/** The text of all cues of the subtitles that are shown. */
const shownCues = `Array.from(${mainVideo}.textTracks)
  .filter(({ mode }) => mode === 'showing')
  .flatMap(({ cues }) => Array.from(cues ?? [], ({ text }) => text))
  .join()`

/** GStreamer rarely stops after the first frame, and starts when it is asked again. */
const STARTS_WITHIN_MS = 30_000

/**
 * Waits until the recording has played for a second. Without MediaSource, a page that does not
 * start is opened once more.
 */
async function playing(page: EnginePage): Promise<void> {
  const position = `${mainVideo}?.currentTime ?? -1`
  const wait = async (limit: { timeout?: number } = {}): Promise<void> => {
    const options = { intervals: [200], ...limit }
    await expect.poll(() => page.evaluate(position), options).toBeGreaterThan(1)
  }
  const isNative = (await page.evaluate(`'MediaSource' in globalThis`)) === false
  if (!isNative) return wait()
  try {
    await wait({ timeout: STARTS_WITHIN_MS })
  } catch {
    await page.open(String(await page.evaluate('location.href')))
    await closePreroll(page)
    await wait()
  }
}
