// @vitest-environment jsdom
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Mock } from 'vitest'
import type { AdsConfig, ConfigResponse } from '../../shared/contract.ts'
import { Resource } from '../api/resource.ts'
import { openPreroll, prerollUrl } from './open-preroll.ts'

const adAnswer = `<VAST version="4.0"><Ad><InLine><Creatives><Creative><Linear><MediaFiles>
  <MediaFile>/ad.mp4</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>`

let server: Server
let origin: string
let asked: string[]
let answer: (response: ServerResponse) => void
let stage: HTMLElement
let covered: HTMLVideoElement
let onOver: Mock<() => void>
const open: (() => void)[] = []

beforeEach(async () => {
  asked = []
  answer = (response) => response.end(adAnswer)
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('access-control-allow-origin', '*')
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  origin = `http://127.0.0.1:${address.port}`
  // What jsdom lacks: layout and media.
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

/** Enters the player. */
function enter(load: () => Promise<ConfigResponse>, over = onOver): () => void {
  const leave = openPreroll({ config: new Resource(load), stage, covered, onOver: over })
  open.push(leave)
  return leave
}

function overlay(): HTMLElement | null {
  return stage.querySelector('[data-preroll]')
}

test('shows the ad of the configured zone, and is over when it is closed', async () => {
  enter(async () => withAds())
  await vi.waitFor(() => expect(overlay()).not.toBeNull(), 5000)
  expect(asked).toEqual(['/vast?zone=3'])
  expect(overlay()?.querySelector('video')?.src).toBe(`${origin}/ad.mp4`)
  expect(onOver).not.toHaveBeenCalled()
  overlay()?.querySelector('button')?.click()
  await vi.waitFor(() => expect(onOver).toHaveBeenCalledOnce())
})

test.each<[string, Partial<AdsConfig>]>([
  ['there are no ads', { provider: 'none' }],
  ['no zone is for video', { zones: { banner: '1' } }],
])('is over at once where %s', async (_what, ads) => {
  enter(async () => withAds(ads))
  await vi.waitFor(() => expect(onOver).toHaveBeenCalledOnce())
  expect(asked).toEqual([])
})

test.each<[string, (response: ServerResponse) => void]>([
  ['fails', (response) => response.writeHead(500).end()],
  ['is empty', (response) => response.end('<VAST/>')],
  ['is no VAST', (response) => response.end('<html>')],
  ['breaks off', (response) => response.destroy()],
])('is over at once, and shows nothing, where the answer %s', async (_what, given) => {
  answer = given
  const add = vi.spyOn(stage, 'append')
  enter(async () => withAds())
  await vi.waitFor(() => expect(onOver).toHaveBeenCalledOnce(), 5000)
  expect(add).not.toHaveBeenCalled()
})

test('waits for the configuration 1.5 s and no longer', async () => {
  vi.useFakeTimers()
  enter(() => new Promise(() => undefined))
  await vi.advanceTimersByTimeAsync(1499)
  expect(onOver).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(onOver).toHaveBeenCalledOnce()
  expect(vi.getTimerCount()).toBe(0)
})

test('is over where the configuration fails', async () => {
  enter(() => Promise.reject(new Error('no')))
  await vi.waitFor(() => expect(onOver).toHaveBeenCalledOnce())
})

test('waits 5 s in all for an answer that does not come, and ignores a later one', async () => {
  let late: ServerResponse | undefined
  answer = (response) => (late = response)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  enter(async () => withAds())
  while (!late) await vi.advanceTimersByTimeAsync(1).then(() => new Promise(setImmediate))
  await vi.advanceTimersByTimeAsync(4000)
  expect(onOver).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1000)
  expect(onOver).toHaveBeenCalledOnce()
  late.end(adAnswer)
  await new Promise(setImmediate)
  await vi.advanceTimersByTimeAsync(1000)
  expect(overlay()).toBeNull()
})

test('asks for nothing in a tab that nobody looks at', async () => {
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  enter(async () => withAds())
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(asked).toEqual([])
  hidden.mockReturnValue(false)
  document.dispatchEvent(new Event('visibilitychange'))
  await vi.waitFor(() => expect(overlay()).not.toBeNull(), 5000)
})

test('ends the request and shows nothing for a visitor who leaves', async () => {
  let isClosed = false
  answer = (response) => void response.on('close', () => (isClosed = true))
  const leave = enter(async () => withAds())
  await vi.waitFor(() => expect(asked).toHaveLength(1), 5000)
  leave()
  await vi.waitFor(() => expect(isClosed).toBe(true))
  expect(overlay()).toBeNull()
  expect(onOver).not.toHaveBeenCalled()
})

test('takes the ad away from a visitor who leaves, and shows the next session another', async () => {
  const leave = enter(async () => withAds())
  await vi.waitFor(() => expect(overlay()).not.toBeNull(), 5000)
  leave()
  expect(overlay()).toBeNull()
  expect(onOver).not.toHaveBeenCalled()
  enter(async () => withAds())
  await vi.waitFor(() => expect(overlay()).not.toBeNull(), 5000)
  expect(asked).toHaveLength(2)
  expect(covered.inert).toBe(true)
})

test('puts the zone into the address, encoded, wherever it stands', () => {
  expect(prerollUrl(withAds({ vastUrl: '/v/{zone}?z={zone}', zones: { video: '$& 1' } }))).toBe(
    `${location.origin}/v/%24%26%201?z=%24%26%201`,
  )
  expect(prerollUrl(withAds({ vastUrl: 'http://[' }))).toBeUndefined()
})
