// @vitest-environment jsdom
// The responses of the stand-in network whose outcome needs no browser. test/e2e has the others.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { startAdNetwork, type AdNetwork } from '../../../test/ad-network/ad-network.ts'
import { errorCases, simpleCauses } from '../../../test/ad-network/error-cases.ts'
import { browserZones, vastCases } from '../../../test/ad-network/vast-cases.ts'
import { patienceMs } from '../../../test/support/patience.ts'
import { showPreroll } from './show-preroll.ts'

let network: AdNetwork
let stage: HTMLElement
let covered: HTMLVideoElement
let left: AbortController
/** Queries of the beacons, such as `event=start`. */
let beacons: string[]
/** Codes that the page reports to the site's collector. */
let reports: unknown[]
let overlays: number

beforeAll(async () => {
  network = await startAdNetwork()
})
afterAll(() => network.close())

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  // jsdom has no layout and no media.
  vi.spyOn(Element.prototype, 'getClientRects').mockImplementation(() => {
    const list = [new DOMRect(0, 0, 640, 360)]
    return Object.assign(list, { item: (at: number) => list[at] ?? null })
  })
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, 0, 640, 360))
  vi.spyOn(HTMLMediaElement.prototype, 'play').mockResolvedValue(undefined)
  vi.spyOn(HTMLMediaElement.prototype, 'pause').mockImplementation(() => undefined)
  vi.spyOn(HTMLMediaElement.prototype, 'load').mockImplementation(() => undefined)
  vi.spyOn(HTMLMediaElement.prototype, 'canPlayType').mockImplementation((type) =>
    ['video/mp4', 'audio/mpeg'].includes(type) ? 'maybe' : '',
  )
  beacons = []
  vi.spyOn(HTMLImageElement.prototype, 'src', 'set').mockImplementation((url) => {
    beacons.push(new URL(url).searchParams.toString())
  })
  left = new AbortController()
  reports = []
  window.addEventListener('quality', report, { signal: left.signal })
  stage = document.createElement('div')
  covered = document.createElement('video')
  stage.append(covered)
  document.body.replaceChildren(stage)
  overlays = 0
  const append = stage.append.bind(stage)
  stage.append = (...nodes) => {
    overlays += 1
    append(...nodes)
  }
})

afterEach(() => {
  left.abort()
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const simpleCases = vastCases.filter(({ zone }) => !browserZones.has(zone))

for (const { zone } of simpleCases.filter(({ media }) => media === undefined)) {
  test(`is over without an overlay: ${zone}`, async () => {
    await show(zone)
    expect(overlays).toBe(0)
  })
}

for (const { zone, media } of simpleCases.filter((one) => one.media !== undefined)) {
  test(`shows the first video of the response: ${zone}`, async () => {
    const over = show(zone)
    await expect.poll(() => overlay()).not.toBeNull()
    const film = overlay()?.querySelector('video')
    expect(film?.muted).toBe(true)
    expect(film?.src).toBe(`${network.url}/media/${media}`)
    expect(overlay()?.querySelector('a[href^="javascript"]')).toBeNull()
    expect(covered.inert).toBe(true)
    film?.dispatchEvent(new Event('playing'))
    expect(beacons).toContain('event=impression')
    overlay()?.querySelector('button')?.click()
    await over
    expect(overlay()).toBeNull()
    expect(covered.inert).toBe(false)
    expect([overlays, reports]).toEqual([1, []])
  })
}

for (const [code, cases] of Object.entries(errorCases)) {
  for (const { cause, beacons: named } of cases.filter((one) => simpleCauses.has(one.cause))) {
    test(`sends ${code}: ${cause}`, async () => {
      await show(`error-${cause}`)
      const expected = ['wrapper-error', ...named].map((name) => `${name}=${code}`)
      const errors = beacons.filter((beacon) => beacon.includes('error='))
      expect(errors.toSorted()).toEqual(expected.toSorted())
      expect(reports).toEqual([Number(code)])
      expect(overlays).toBe(0)
    })
  }
}

function show(zone: string): Promise<void> {
  const url = `${network.url}/v1/vast.php?idzone=${zone}`
  return showPreroll(url, { stage, covered, timeoutMs: patienceMs, signal: left.signal })
}

function overlay(): Element | null {
  return stage.querySelector('[data-preroll]')
}

function report(event: Event): void {
  if (event instanceof CustomEvent && 'code' in event.detail) reports.push(event.detail.code)
}
