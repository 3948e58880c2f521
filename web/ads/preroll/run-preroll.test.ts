// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Mock, MockInstance } from 'vitest'
import { openConsent } from './consent.ts'
import type { PrerollAd } from './load-vast.ts'
import { runPreroll } from './run-preroll.ts'

const ad: PrerollAd = {
  mediaUrl: 'https://cdn.example/ad.mp4',
  durationSeconds: 20,
  isSkippable: true,
  isInteractive: false,
  unverifiedUrls: [],
  impressionUrls: ['https://t.example/impression'],
  errorUrls: ['https://t.example/error?[ERRORCODE]'],
  tracking: ['start', 'firstQuartile', 'complete', 'skip', 'pause', 'resume'].map((event) => ({
    event,
    url: `https://t.example/${event}`,
    offset: undefined,
  })),
  clickTrackingUrls: ['https://t.example/click'],
  clickThroughUrl: 'https://shop.example/',
}

let stage: HTMLElement
let covered: HTMLVideoElement
let left: AbortController
let onOver: Mock<() => void>
let play: MockInstance<HTMLMediaElement['play']>
let load: MockInstance<HTMLMediaElement['load']>
let beacons: string[]
let isHidden: boolean

beforeEach(() => {
  vi.useFakeTimers()
  // jsdom has no layout and no media.
  vi.spyOn(Element.prototype, 'getClientRects').mockImplementation(() => rects(1))
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, 0, 640, 360))
  play = vi.spyOn(HTMLMediaElement.prototype, 'play').mockResolvedValue(undefined)
  load = vi.spyOn(HTMLMediaElement.prototype, 'load').mockImplementation(() => undefined)
  vi.spyOn(HTMLMediaElement.prototype, 'pause').mockImplementation(() => undefined)
  isHidden = false
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => isHidden)
  beacons = []
  vi.spyOn(HTMLImageElement.prototype, 'src', 'set').mockImplementation((url) => {
    beacons.push(url.replace('https://t.example/', ''))
  })
  left = new AbortController()
  onOver = vi.fn<() => void>()
  stage = document.createElement('div')
  covered = document.createElement('video')
  covered.tabIndex = 0
  stage.append(covered)
  document.body.replaceChildren(stage)
})

afterEach(() => {
  left.abort()
  vi.restoreAllMocks()
  vi.useRealTimers()
})

function run(shown: PrerollAd): void {
  const { signal } = left
  void runPreroll(shown, { stage, covered, consent: openConsent(signal), signal }).then(onOver)
}

function open(shown: PrerollAd = ad) {
  run(shown)
  const root = stage.querySelector<HTMLElement>('[data-preroll]')
  const video = root?.querySelector('video')
  const close = root?.querySelector('button')
  if (!root || !video || !close) throw new Error('no overlay')
  return { root, video, close, link: root.querySelector('a') }
}

function rects(count: number): DOMRectList {
  const list = Array.from({ length: count }, () => new DOMRect(0, 0, 640, 360))
  return Object.assign(list, { item: (at: number) => list[at] ?? null })
}

/** Moves the ad to a position, as a media engine does. */
function playTo(video: HTMLVideoElement, seconds: number, durationSeconds = 20): void {
  Object.defineProperty(video, 'currentTime', { value: seconds, configurable: true })
  Object.defineProperty(video, 'duration', { value: durationSeconds, configurable: true })
  video.dispatchEvent(new Event('timeupdate'))
}

/** Plays the ad for `seconds`, one second per step. */
async function playFor(video: HTMLVideoElement, seconds: number, durationSeconds = 60) {
  for (let at = 0; at < seconds; at++) {
    await vi.advanceTimersByTimeAsync(1000)
    playTo(video, video.currentTime + 1, durationSeconds)
  }
}

/** Requires that nothing of the ad is left. */
async function expectRemoved(video: HTMLVideoElement): Promise<void> {
  // After a change of the focus, jsdom renders once.
  await vi.advanceTimersByTimeAsync(20)
  expect(stage.querySelector('[data-preroll]')).toBeNull()
  expect(onOver).toHaveBeenCalledOnce()
  expect(covered.inert).toBe(false)
  expect(video.hasAttribute('src')).toBe(false)
  expect(load).toHaveBeenCalledOnce()
  expect(vi.getTimerCount()).toBe(0)
}

test('shows the ad muted, autoplaying and inline, with the URL of the media file', () => {
  const { video } = open()
  expect(video).toMatchObject({ muted: true, autoplay: true, src: ad.mediaUrl })
  expect(video.hasAttribute('playsinline')).toBe(true)
  expect(video.hasAttribute('muted')).toBe(true)
  expect(play).toHaveBeenCalledOnce()
})

test('shows the image of the session until the ad has a frame', () => {
  covered.poster = 'https://site.example/api/thumbnail/a/2026-01-31/1'
  expect(open().video.poster).toBe(covered.poster)
})

test('has a button × with the name Close ad, a label, and a safe link', () => {
  const { root, close, link } = open()
  expect(close.textContent).toBe('×')
  expect(close.getAttribute('aria-label')).toBe('Close ad')
  expect(root.querySelector('p')?.textContent).toBe('Ad')
  expect(link?.href).toBe('https://shop.example/')
  expect(link?.target).toBe('_blank')
  expect(link?.rel.split(' ').toSorted()).toEqual(['nofollow', 'noopener', 'sponsored'])
})

test('has no link if the ad has no safe click-through', () => {
  expect(open({ ...ad, clickThroughUrl: undefined }).link).toBeNull()
})

test('keeps the main video paused and inert while the ad is shown', async () => {
  const pause = vi.spyOn(covered, 'pause')
  open()
  expect(covered.inert).toBe(true)
  expect(pause).toHaveBeenCalledOnce()
  covered.dispatchEvent(new Event('play'))
  expect(pause).toHaveBeenCalledTimes(2)
  await vi.advanceTimersByTimeAsync(0)
  expect(onOver).not.toHaveBeenCalled()
})

test('is removed by a click on ×, and sends `skip`', async () => {
  const { video, close } = open()
  close.click()
  await expectRemoved(video)
  expect(beacons).toEqual(['skip'])
})

test('is removed by Escape', async () => {
  const { video } = open()
  document.dispatchEvent(new KeyboardEvent('keydown', { key: 'a' }))
  expect(onOver).not.toHaveBeenCalled()
  document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))
  await expectRemoved(video)
})

test('is removed when the ad ends, and sends each event once', async () => {
  const { video } = open()
  video.dispatchEvent(new Event('playing'))
  video.dispatchEvent(new Event('playing'))
  playTo(video, 5)
  playTo(video, 6)
  video.dispatchEvent(new Event('ended'))
  await expectRemoved(video)
  expect(beacons).toEqual(['impression', 'start', 'firstQuartile', 'complete'])
})

test('is removed after 30,000 ms, not earlier, without an error for a longer ad', async () => {
  const { video } = open()
  await playFor(video, 29)
  await vi.advanceTimersByTimeAsync(999)
  expect(onOver).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  await expectRemoved(video)
  expect(beacons).toEqual(['firstQuartile'])
})

test('is removed at once if the media fails', async () => {
  const { video } = open()
  Object.defineProperty(video, 'error', { value: { code: 3 } })
  video.dispatchEvent(new Event('error'))
  await expectRemoved(video)
  expect(beacons).toEqual(['error?405'])
})

test('is removed, and reports an error, if it cannot be inserted', async () => {
  stage.append = () => {
    throw new Error('replaced by an extension')
  }
  run(ad)
  await vi.advanceTimersByTimeAsync(20)
  expect(onOver).toHaveBeenCalledOnce()
  expect(covered.inert).toBe(false)
  expect(beacons).toEqual(['error?900'])
})

test('sends the values of the player at the time of the failure', async () => {
  const { video } = open({ ...ad, errorUrls: ['https://t.example/[PLAYERSIZE]/[ASSETURI]'] })
  Object.defineProperty(video, 'clientWidth', { get: () => (video.isConnected ? 640 : 0) })
  Object.defineProperty(video, 'clientHeight', { get: () => (video.isConnected ? 360 : 0) })
  Object.defineProperty(video, 'error', { value: { code: 3 } })
  video.dispatchEvent(new Event('error'))
  await expectRemoved(video)
  expect(beacons).toEqual(['640,360/https%3A%2F%2Fcdn.example%2Fad.mp4'])
})

test('is removed if the browser refuses to play it', async () => {
  play.mockRejectedValue(new DOMException('no autoplay at all', 'NotAllowedError'))
  const { video } = open()
  await expectRemoved(video)
  expect(beacons).toEqual(['error?400'])
})

test.each([
  [HTMLMediaElement.HAVE_CURRENT_DATA, 402],
  [HTMLMediaElement.HAVE_ENOUGH_DATA, 304],
])('is removed if the ad does not start within 5 s, in state %i: %i', async (readyState, code) => {
  const { video } = open()
  Object.defineProperty(video, 'readyState', { value: readyState })
  await vi.advanceTimersByTimeAsync(4700)
  expect(onOver).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(300)
  await expectRemoved(video)
  expect(beacons).toEqual([`error?${code}`])
})

test.each([
  [HTMLMediaElement.HAVE_CURRENT_DATA, 402],
  [HTMLMediaElement.HAVE_ENOUGH_DATA, 405],
])(
  'is removed if the ad stalls for 5 s, not earlier, in state %i: %i',
  async (readyState, code) => {
    const { video } = open()
    Object.defineProperty(video, 'readyState', { value: readyState })
    await playFor(video, 3)
    await vi.advanceTimersByTimeAsync(4000)
    playTo(video, 4)
    await vi.advanceTimersByTimeAsync(4000)
    expect(onOver).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1500)
    await expectRemoved(video)
    expect(beacons).toEqual([`error?${code}`])
  },
)

test('is removed at once if a blocker hides it', async () => {
  vi.spyOn(Element.prototype, 'getClientRects').mockImplementation(() => rects(0))
  run(ad)
  await vi.advanceTimersByTimeAsync(20)
  expect(onOver).toHaveBeenCalledOnce()
  expect(stage.querySelector('[data-preroll]')).toBeNull()
  expect(vi.getTimerCount()).toBe(0)
})

test('is removed if a blocker hides it later or makes it transparent', async () => {
  const { root, video } = open()
  await playFor(video, 2)
  expect(onOver).not.toHaveBeenCalled()
  Object.assign(root, { checkVisibility: () => false })
  await vi.advanceTimersByTimeAsync(250)
  await expectRemoved(video)
})

test('is over if a blocker removes the element from the page', async () => {
  const { root, video } = open()
  root.remove()
  vi.spyOn(root, 'getClientRects').mockImplementation(() => rects(0))
  await vi.advanceTimersByTimeAsync(250)
  await expectRemoved(video)
  expect(beacons).toEqual(['error?400'])
})

test('pauses in a hidden tab, but ends after 30 s', async () => {
  const { video } = open()
  await playFor(video, 2)
  isHidden = true
  document.dispatchEvent(new Event('visibilitychange'))
  await vi.advanceTimersByTimeAsync(20_000)
  expect(onOver).not.toHaveBeenCalled()
  isHidden = false
  document.dispatchEvent(new Event('visibilitychange'))
  expect(play).toHaveBeenCalledTimes(2)
  expect(beacons).toEqual(['pause', 'resume'])
  isHidden = true
  await vi.advanceTimersByTimeAsync(8000)
  await expectRemoved(video)
})

test('sends a click of the left and of the middle button', () => {
  const { link } = open()
  link?.dispatchEvent(new MouseEvent('auxclick', { button: 2 }))
  expect(beacons).toEqual([])
  link?.dispatchEvent(new MouseEvent('auxclick', { button: 1 }))
  link?.dispatchEvent(new MouseEvent('click'))
  expect(beacons).toEqual(['click'])
})

test('shows the remaining time, at most 30 s', () => {
  const { root, video } = open()
  playTo(video, 4.5)
  expect(root.querySelector('p')?.textContent).toBe('Ad0:16')
  playTo(video, 10, 300)
  expect(root.querySelector('p')?.textContent).toBe('Ad0:20')
  playTo(video, 10, Number.POSITIVE_INFINITY)
  expect(root.querySelector('p')?.textContent).toBe('Ad0:10')
})

test('passes its focus to the main video', async () => {
  const { close } = open()
  expect(document.activeElement).toBe(document.body)
  close.focus()
  close.click()
  expect(document.activeElement).toBe(covered)
})

test.each(['body', 'heading'])('moves the focus from the %s to the main video', (from) => {
  const heading = Object.assign(document.createElement('h1'), { tabIndex: -1 })
  document.body.append(heading)
  if (from === 'heading') heading.focus()
  const { video } = open()
  video.dispatchEvent(new Event('ended'))
  expect(document.activeElement).toBe(covered)
})

test('does not move the focus from a control', () => {
  const button = document.createElement('button')
  document.body.append(button)
  button.focus()
  const { video } = open()
  video.dispatchEvent(new Event('ended'))
  expect(document.activeElement).toBe(button)
})

test('leaves nothing active when the visitor leaves', async () => {
  const { video, close } = open()
  left.abort()
  await expectRemoved(video)
  close.click()
  video.dispatchEvent(new Event('playing'))
  video.dispatchEvent(new Event('error'))
  document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(beacons).toEqual([])
  expect(onOver).toHaveBeenCalledOnce()
})

test('shows nothing if the visitor has left before', async () => {
  left.abort()
  run(ad)
  await vi.advanceTimersByTimeAsync(0)
  expect(stage.children).toHaveLength(1)
  expect(covered.inert).not.toBe(true)
})
