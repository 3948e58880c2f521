// @vitest-environment jsdom
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Mock } from 'vitest'
import type { AdsConfig, ConfigResponse } from '../../shared/contract.ts'
import { Resource } from '../api/resource.ts'
import { openPreroll, prerollUrl } from './open-preroll.ts'

const adDocument = `<VAST version="4.0"><Ad><InLine><Creatives><Creative><Linear><MediaFiles>
  <MediaFile>/ad.mp4</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>`

let server: Server
let origin: string
let requested: string[]
let respond: (response: ServerResponse) => void
let stage: HTMLElement
let covered: HTMLVideoElement
let onOver: Mock<() => void>
const open: (() => void)[] = []

beforeEach(async () => {
  // The time limits of the pre-roll.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  requested = []
  respond = (response) => response.end(adDocument)
  server = createServer((request, response) => {
    requested.push(request.url ?? '')
    response.setHeader('access-control-allow-origin', '*')
    respond(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  origin = `http://127.0.0.1:${address.port}`
  // jsdom has no layout and no media.
  vi.spyOn(Element.prototype, 'getClientRects').mockImplementation(() => {
    const list = [new DOMRect(0, 0, 640, 360)]
    return Object.assign(list, { item: (at: number) => list[at] ?? null })
  })
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, 0, 640, 360))
  vi.spyOn(HTMLMediaElement.prototype, 'play').mockResolvedValue(undefined)
  vi.spyOn(HTMLMediaElement.prototype, 'pause').mockImplementation(() => undefined)
  vi.spyOn(HTMLMediaElement.prototype, 'load').mockImplementation(() => undefined)
  stage = document.createElement('div')
  covered = document.createElement('video')
  stage.append(covered)
  document.body.replaceChildren(stage)
  onOver = vi.fn<() => void>()
})

afterEach(async () => {
  for (const close of open.splice(0)) close()
  vi.useRealTimers()
  vi.restoreAllMocks()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function withAds(ads: Partial<AdsConfig> = {}): ConfigResponse {
  return {
    ads: {
      provider: 'network',
      insClass: 'x',
      vastUrl: `${origin}/vast?zone={zone}`,
      zones: { video: '3' },
      fill: 'frame',
      ...ads,
    },
    analytics: { firstParty: false },
  }
}

/** Opens the player page of a session that has a playlist. */
function enter(load: () => Promise<ConfigResponse>, over = onOver): () => void {
  const opened = Promise.resolve()
  const leave = openPreroll({ config: new Resource(load), stage, covered, opened, onOver: over })
  open.push(leave)
  return leave
}

function overlay(): HTMLElement | null {
  return stage.querySelector('[data-preroll]')
}

test('shows the ad of the configured zone, and is over after a click on ×', async () => {
  enter(async () => withAds())
  await expect.poll(() => overlay()).not.toBeNull()
  expect(requested).toEqual(['/vast?zone=3'])
  expect(overlay()?.querySelector('video')?.src).toBe(`${origin}/ad.mp4`)
  expect(onOver).not.toHaveBeenCalled()
  overlay()?.querySelector('button')?.click()
  await expect.poll(() => onOver.mock.calls).toHaveLength(1)
})

test.each<[string, Partial<AdsConfig>]>([
  ['without ads', { provider: 'none' }],
  ['without a video zone', { zones: { banner: '1' } }],
])('is over at once %s', async (_what, ads) => {
  enter(async () => withAds(ads))
  await expect.poll(() => onOver.mock.calls).toHaveLength(1)
  expect(requested).toEqual([])
})

test.each<[string, (response: ServerResponse) => void]>([
  ['an error', (response) => response.writeHead(500).end()],
  ['an empty document', (response) => response.end('<VAST/>')],
  ['not VAST', (response) => response.end('<html>')],
  ['truncated', (response) => response.destroy()],
])('is over at once, and shows nothing, if the response is %s', async (_what, given) => {
  respond = given
  const add = vi.spyOn(stage, 'append')
  enter(async () => withAds())
  await expect.poll(() => onOver.mock.calls).toHaveLength(1)
  expect(add).not.toHaveBeenCalled()
})

test('waits at most 1.5 s for the configuration', async () => {
  enter(() => new Promise(() => undefined))
  await vi.advanceTimersByTimeAsync(1499)
  expect(onOver).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(onOver).toHaveBeenCalledOnce()
  expect(vi.getTimerCount()).toBe(0)
})

test('is over if the configuration cannot be loaded', async () => {
  enter(() => Promise.reject(new Error('no')))
  await expect.poll(() => onOver.mock.calls).toHaveLength(1)
})

test('waits at most 5 s for a response, and ignores a later one', async () => {
  let late: ServerResponse | undefined
  respond = (response) => (late = response)
  enter(async () => withAds())
  await expect.poll(() => late).toBeDefined()
  await vi.advanceTimersByTimeAsync(4000)
  expect(onOver).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1000)
  expect(onOver).toHaveBeenCalledOnce()
  late?.end(adDocument)
  await new Promise(setImmediate)
  await vi.advanceTimersByTimeAsync(1000)
  expect(overlay()).toBeNull()
})

test('requests nothing in a hidden tab', async () => {
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  enter(async () => withAds())
  await vi.advanceTimersByTimeAsync(10_000)
  expect(requested).toEqual([])
  hidden.mockReturnValue(false)
  document.dispatchEvent(new Event('visibilitychange'))
  await expect.poll(() => overlay()).not.toBeNull()
})

test('aborts the request and shows nothing after the visitor has left', async () => {
  let isClosed = false
  respond = (response) => void response.on('close', () => (isClosed = true))
  const leave = enter(async () => withAds())
  await expect.poll(() => requested).toHaveLength(1)
  leave()
  await expect.poll(() => isClosed).toBe(true)
  expect(overlay()).toBeNull()
  expect(onOver).not.toHaveBeenCalled()
})

test('removes the ad when the visitor leaves, and shows another one next time', async () => {
  const leave = enter(async () => withAds())
  await expect.poll(() => overlay()).not.toBeNull()
  leave()
  expect(overlay()).toBeNull()
  expect(onOver).not.toHaveBeenCalled()
  enter(async () => withAds())
  await expect.poll(() => overlay()).not.toBeNull()
  expect(requested).toHaveLength(2)
  expect(covered.inert).toBe(true)
})

test('replaces every `{zone}` of the URL by the encoded zone', () => {
  expect(prerollUrl(withAds({ vastUrl: '/v/{zone}?z={zone}', zones: { video: '$& 1' } }))).toBe(
    `${location.origin}/v/%24%26%201?z=%24%26%201`,
  )
  expect(prerollUrl(withAds({ vastUrl: 'http://[' }))).toBeUndefined()
})
