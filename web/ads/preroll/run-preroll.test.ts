// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Mock, MockInstance } from 'vitest'
import type { PrerollAd } from './load-vast.ts'
import { runPreroll } from './run-preroll.ts'

const ad: PrerollAd = {
  mediaUrl: 'https://cdn.example/ad.mp4',
  durationSeconds: 20,
  isSkippable: true,
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
  // What jsdom lacks: layout and media.
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

function open(shown: PrerollAd = ad) {
  void runPreroll(shown, { stage, covered }, left.signal).then(onOver)
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

/** Lets the ad play on to a second, as a media engine tells of it. */
function playTo(video: HTMLVideoElement, seconds: number, durationSeconds = 20): void {
  Object.defineProperty(video, 'currentTime', { value: seconds, configurable: true })
  Object.defineProperty(video, 'duration', { value: durationSeconds, configurable: true })
  video.dispatchEvent(new Event('timeupdate'))
}

/** Plays for `seconds` in steps, in which the ad goes on. */
async function playFor(video: HTMLVideoElement, seconds: number, durationSeconds = 60) {
  for (let at = 0; at < seconds; at++) {
    await vi.advanceTimersByTimeAsync(1000)
    playTo(video, video.currentTime + 1, durationSeconds)
  }
}

/** Resolves where everything is as if there had been no ad. */
async function expectGone(video: HTMLVideoElement): Promise<void> {
  await vi.advanceTimersByTimeAsync(0)
  expect(stage.querySelector('[data-preroll]')).toBeNull()
  expect(onOver).toHaveBeenCalledOnce()
  expect(covered.inert).toBe(false)
  expect(video.hasAttribute('src')).toBe(false)
  expect(load).toHaveBeenCalledOnce()
  expect(vi.getTimerCount()).toBe(0)
}

test('shows the ad muted, playing by itself and in place, with the address of the media file', () => {
  const { video } = open()
  expect(video).toMatchObject({ muted: true, autoplay: true, src: ad.mediaUrl })
  expect(video.hasAttribute('playsinline')).toBe(true)
  expect(video.hasAttribute('muted')).toBe(true)
  expect(play).toHaveBeenCalledOnce()
})

test('has a button × named Close ad, a label, and a safe link', () => {
  const { root, close, link } = open()
  expect(close.textContent).toBe('×')
  expect(close.getAttribute('aria-label')).toBe('Close ad')
  expect(root.querySelector('p')?.textContent).toBe('Ad')
  expect(link?.href).toBe('https://shop.example/')
  expect(link?.target).toBe('_blank')
  expect(link?.rel.split(' ').toSorted()).toEqual(['nofollow', 'noopener', 'sponsored'])
})

test('leads nowhere where the ad names no safe address', () => {
  expect(open({ ...ad, clickThroughUrl: undefined }).link).toBeNull()
})

test('keeps the main video still and out of reach while the ad is shown', async () => {
  const pause = vi.spyOn(covered, 'pause')
  open()
  expect(covered.inert).toBe(true)
  expect(pause).toHaveBeenCalledOnce()
  covered.dispatchEvent(new Event('play'))
  expect(pause).toHaveBeenCalledTimes(2)
  await vi.advanceTimersByTimeAsync(0)
  expect(onOver).not.toHaveBeenCalled()
})

test('goes when it is closed, at any time, and tells of it', async () => {
  const { video, close } = open()
  close.click()
  await expectGone(video)
  expect(beacons).toEqual(['skip'])
})

test('goes with Escape', async () => {
  const { video } = open()
  document.dispatchEvent(new KeyboardEvent('keydown', { key: 'a' }))
  expect(onOver).not.toHaveBeenCalled()
  document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))
  await expectGone(video)
})

test('goes when the ad has ended, and tells the whole story once', async () => {
  const { video } = open()
  video.dispatchEvent(new Event('playing'))
  video.dispatchEvent(new Event('playing'))
  playTo(video, 5)
  playTo(video, 6)
  video.dispatchEvent(new Event('ended'))
  await expectGone(video)
  expect(beacons).toEqual(['impression', 'start', 'firstQuartile', 'complete'])
})

test('goes after 30,000 ms and not before, and a longer ad is no failure', async () => {
  const { video } = open()
  await playFor(video, 29)
  await vi.advanceTimersByTimeAsync(999)
  expect(onOver).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  await expectGone(video)
  expect(beacons).toEqual(['firstQuartile'])
})

test('goes when the media fails', async () => {
  const { video } = open()
  video.dispatchEvent(new Event('error'))
  await expectGone(video)
  expect(beacons).toEqual(['error?405'])
})

test('goes where the browser refuses to play it', async () => {
  play.mockRejectedValue(new DOMException('no autoplay at all', 'NotAllowedError'))
  const { video } = open()
  await expectGone(video)
  expect(beacons).toEqual(['error?405'])
})

test('goes where the ad has not started within 5 s', async () => {
  const { video } = open()
  await vi.advanceTimersByTimeAsync(4700)
  expect(onOver).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(300)
  await expectGone(video)
  expect(beacons).toEqual(['error?402'])
})

test('goes where the ad stands still for 5 s, but not for less', async () => {
  const { video } = open()
  await playFor(video, 3)
  await vi.advanceTimersByTimeAsync(4000)
  playTo(video, 4)
  await vi.advanceTimersByTimeAsync(4000)
  expect(onOver).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1500)
  await expectGone(video)
  expect(beacons).toEqual(['error?405'])
})

test('goes at once where a blocker hides it', async () => {
  vi.spyOn(Element.prototype, 'getClientRects').mockImplementation(() => rects(0))
  void runPreroll(ad, { stage, covered }, left.signal).then(onOver)
  await vi.advanceTimersByTimeAsync(0)
  expect(onOver).toHaveBeenCalledOnce()
  expect(stage.querySelector('[data-preroll]')).toBeNull()
  expect(vi.getTimerCount()).toBe(0)
})

test('goes where a blocker hides it later or makes it transparent', async () => {
  const { root, video } = open()
  await playFor(video, 2)
  expect(onOver).not.toHaveBeenCalled()
  Object.assign(root, { checkVisibility: () => false })
  await vi.advanceTimersByTimeAsync(250)
  await expectGone(video)
})

test('survives a blocker that takes the element out of the page', async () => {
  const { root, video } = open()
  root.remove()
  vi.spyOn(root, 'getClientRects').mockImplementation(() => rects(0))
  await vi.advanceTimersByTimeAsync(250)
  await expectGone(video)
  expect(beacons).toEqual(['error?405'])
})

test('waits with the visitor who looks at another tab, but no longer than 30 s', async () => {
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
  await expectGone(video)
})

test('tells of a click, with the left and the middle button', () => {
  const { link } = open()
  link?.dispatchEvent(new MouseEvent('auxclick', { button: 2 }))
  expect(beacons).toEqual([])
  link?.dispatchEvent(new MouseEvent('auxclick', { button: 1 }))
  link?.dispatchEvent(new MouseEvent('click'))
  expect(beacons).toEqual(['click'])
})

test('shows how long it will last, at most half a minute', () => {
  const { root, video } = open()
  playTo(video, 4.5)
  expect(root.querySelector('p')?.textContent).toBe('Ad0:16')
  playTo(video, 10, 300)
  expect(root.querySelector('p')?.textContent).toBe('Ad0:20')
  playTo(video, 10, Number.POSITIVE_INFINITY)
  expect(root.querySelector('p')?.textContent).toBe('Ad0:10')
})

test('hands the focus on to the main video where it had it, and takes none', async () => {
  const { close } = open()
  expect(document.activeElement).toBe(document.body)
  close.focus()
  close.click()
  expect(document.activeElement).toBe(covered)
})

test('takes no focus that is elsewhere', () => {
  const { video } = open()
  video.dispatchEvent(new Event('ended'))
  expect(document.activeElement).toBe(document.body)
})

test('leaves nothing behind when the visitor leaves', async () => {
  const { video, close } = open()
  left.abort()
  await expectGone(video)
  close.click()
  video.dispatchEvent(new Event('playing'))
  video.dispatchEvent(new Event('error'))
  document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(beacons).toEqual([])
  expect(onOver).toHaveBeenCalledOnce()
})

test('shows nothing to a visitor who has left before', async () => {
  left.abort()
  void runPreroll(ad, { stage, covered }, left.signal).then(onOver)
  await vi.advanceTimersByTimeAsync(0)
  expect(stage.children).toHaveLength(1)
  expect(covered.inert).not.toBe(true)
})
