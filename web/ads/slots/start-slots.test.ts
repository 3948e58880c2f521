// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { AdBlockElements, SlotEngine, SlotName, SlotSettings } from './slot-engine.ts'
import { startSlots } from './start-slots.ts'

const settings: SlotSettings = {
  scriptUrl: '/api/proxy-ad/a.example/ad-provider.js',
  insClass: 'eas6a97888e2',
  zones: { header: '11', sidebar: '11', footer: '11', list: '22', recommended: '22' },
  fill: 'frame',
}

/** The calls of `serve`: ms since the start of the test, and the number of placeholders. */
let served: { atMs: number; placeholders: number }[]
let startMs: number
let errors: unknown[][]
/** Reports to the observers of an element that it is near the viewport. */
let bringNear: (element: Element) => void

beforeEach(() => {
  vi.useFakeTimers()
  startMs = performance.now()
  served = []
  window.AdProvider = { push: recordServe }
  errors = []
  vi.spyOn(console, 'error').mockImplementation((...text) => void errors.push(text))
  vi.stubGlobal('IntersectionObserver', fakeObserver())
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  delete window.AdProvider
  document.head.replaceChildren()
  document.body.replaceChildren()
})

function recordServe(): void {
  const atMs = Math.round(performance.now() - startMs)
  served.push({ atMs, placeholders: document.querySelectorAll('ins').length })
}

/** jsdom has no layout, so its elements never come near the viewport. */
function fakeObserver() {
  const watched = new Map<Element, (entries: Partial<IntersectionObserverEntry>[]) => void>()
  bringNear = (target) => watched.get(target)?.([{ target, isIntersecting: true }])
  return class {
    readonly #callback: (entries: Partial<IntersectionObserverEntry>[]) => void
    constructor(callback: (entries: Partial<IntersectionObserverEntry>[]) => void) {
      this.#callback = callback
    }
    observe(element: Element) {
      watched.set(element, this.#callback)
      this.#callback([{ target: element, isIntersecting: false }])
    }
    unobserve(element: Element) {
      watched.delete(element)
    }
  }
}

function createBlock(slotName: SlotName, cardIndex = 0): AdBlockElements {
  const block = document.createElement('div')
  const host = document.createElement('div')
  block.append(document.createElement('p'), host)
  document.body.append(block)
  return { block, host, slotName, cardIndex }
}

function add(engine: SlotEngine, elements: AdBlockElements): () => void {
  return engine.addBlock(elements, performance.now())
}

/**
 * As the ad script does with an ad: adds a frame next to the placeholder and marks the placeholder.
 */
function fill({ host }: AdBlockElements): void {
  const placeholder = host.querySelector('ins')
  if (!placeholder) throw new Error('no placeholder')
  const wrapper = document.createElement('div')
  wrapper.append(document.createElement('iframe'))
  placeholder.before(wrapper)
  placeholder.dataset['processed'] = 'true'
}

function serveTimes(): number[] {
  return served.map(({ atMs }) => atMs)
}

test('inserts a placeholder with only class and zone into the host', () => {
  const list = createBlock('list', 2)
  add(startSlots(settings), list)
  expect(list.host.innerHTML).toBe('<ins class="eas6a97888e2" data-zoneid="22"></ins>')
})

test('empties the host on removal, also of a frame next to the placeholder', () => {
  const list = createBlock('list', 2)
  const remove = add(startSlots(settings), list)
  fill(list)
  remove()
  expect(list.host.childNodes).toHaveLength(0)
  expect(vi.getTimerCount()).toBe(1) // The pending serve, which is harmless.
})

test('hides a block without a frame after 5,000 ms, not earlier', () => {
  const list = createBlock('list', 2)
  add(startSlots(settings), list)
  vi.advanceTimersByTime(4999)
  expect(list.block.hidden).toBe(false)
  vi.advanceTimersByTime(1)
  expect(list.block.hidden).toBe(true)
})

test('counts the 5,000 ms from the render of the block', () => {
  const list = createBlock('list', 2)
  startSlots(settings).addBlock(list, performance.now() - 1500)
  vi.advanceTimersByTime(3499)
  expect(list.block.hidden).toBe(false)
  vi.advanceTimersByTime(1)
  expect(list.block.hidden).toBe(true)
})

test('never hides a block that was filled in time', () => {
  const list = createBlock('list', 2)
  add(startSlots(settings), list)
  vi.advanceTimersByTime(4999)
  fill(list)
  vi.advanceTimersByTime(60_000)
  expect(list.block.hidden).toBe(false)
})

test('reserves the space of a hidden block in the viewport, and collapses one below it', () => {
  const engine = startSlots(settings)
  const [visible, below] = [createBlock('list', 2), createBlock('list', 4)]
  visible.block.getBoundingClientRect = () => new DOMRect(0, window.innerHeight - 1, 300, 300)
  below.block.getBoundingClientRect = () => new DOMRect(0, window.innerHeight, 300, 300)
  add(engine, visible)
  add(engine, below)
  vi.advanceTimersByTime(5000)
  expect([visible, below].map(({ block }) => [block.hidden, block.dataset['space']])).toEqual([
    [true, 'reserved'],
    [true, undefined],
  ])
  // In the background, nobody sees that it goes.
  document.dispatchEvent(new Event('visibilitychange'))
  expect(visible.block.dataset['space']).toBeUndefined()
})

test('hides all empty blocks on request, also those that are not near the viewport', () => {
  const engine = startSlots(settings)
  const [header, filled, later] = [
    createBlock('header'),
    createBlock('list', 2),
    createBlock('list', 200),
  ]
  for (const block of [header, filled, later]) add(engine, block)
  fill(filled)
  engine.hideUnfilled()
  expect([header, filled, later].map(({ block }) => block.hidden)).toEqual([true, false, true])
})

test('serves 100 ms after a list, once for the list and its blocks', () => {
  const engine = startSlots(settings)
  add(engine, createBlock('list', 2))
  add(engine, createBlock('list', 4))
  engine.afterList()
  vi.advanceTimersByTime(10_000)
  expect(served).toEqual([{ atMs: 100, placeholders: 2 }])
})

test('serves after each load of a list, even without blocks', () => {
  const engine = startSlots(settings)
  engine.afterList()
  vi.advanceTimersByTime(1000)
  engine.afterList()
  vi.advanceTimersByTime(1000)
  expect(serveTimes()).toEqual([100, 1100])
})

test('does not serve after a list that the visitor left within 100 ms', () => {
  const leave = startSlots(settings).afterList()
  vi.advanceTimersByTime(99)
  leave()
  vi.advanceTimersByTime(1000)
  expect(served).toEqual([])
})

test('serves blocks that mount later in the same list 100 ms after they mount', () => {
  const engine = startSlots(settings)
  engine.afterList()
  vi.advanceTimersByTime(1000)
  add(engine, createBlock('list', 62))
  vi.advanceTimersByTime(1000)
  expect(serveTimes()).toEqual([100, 1100])
})

test('serves 0 and 500 ms after each route', () => {
  const engine = startSlots(settings)
  const leave = engine.afterRoute()
  vi.advanceTimersByTime(2000)
  leave()
  engine.afterRoute()
  vi.advanceTimersByTime(2000)
  expect(serveTimes()).toEqual([0, 500, 2000, 2500])
})

test('does not serve a route a second time if the visitor left it within 500 ms', () => {
  const engine = startSlots(settings)
  const leave = engine.afterRoute()
  vi.advanceTimersByTime(300)
  leave()
  engine.afterRoute()
  vi.advanceTimersByTime(2000)
  expect(serveTimes()).toEqual([0, 300, 800])
})

test('queues commands until the script has loaded', () => {
  delete window.AdProvider
  const engine = startSlots(settings)
  engine.afterRoute()
  expect(window.AdProvider).toEqual([{ serve: {} }])
})

test('reports an exception of the script to the console, and continues', () => {
  window.AdProvider = {
    push() {
      throw new Error('no consent')
    },
  }
  const engine = startSlots(settings)
  engine.afterRoute()
  window.AdProvider = { push: recordServe }
  vi.advanceTimersByTime(500)
  expect(errors).toHaveLength(1)
  expect(serveTimes()).toEqual([500])
})

test('does not replace the placeholders of the layout on the first route', () => {
  const engine = startSlots(settings)
  const header = createBlock('header')
  add(engine, header)
  const placeholder = header.host.firstChild
  engine.afterRoute()
  expect(header.host.firstChild).toBe(placeholder)
})

test('renews an empty slot of the layout on a route change, and shows it for 5,000 ms', () => {
  const engine = startSlots(settings)
  const header = createBlock('header')
  add(engine, header)
  engine.afterRoute()
  header.host.querySelector('ins')?.setAttribute('data-processed', 'true')
  vi.advanceTimersByTime(7000)
  expect(header.block.hidden).toBe(true)
  engine.afterRoute()
  expect(header.block.hidden).toBe(false)
  expect(header.host.innerHTML).toBe('<ins class="eas6a97888e2" data-zoneid="11"></ins>')
  vi.advanceTimersByTime(4999)
  expect(header.block.hidden).toBe(false)
  vi.advanceTimersByTime(1)
  expect(header.block.hidden).toBe(true)
})

test('does not change a filled slot of the layout on a route change', () => {
  const engine = startSlots(settings)
  const footer = createBlock('footer')
  add(engine, footer)
  engine.afterRoute()
  fill(footer)
  const frame = footer.host.querySelector('iframe')
  engine.afterRoute()
  vi.advanceTimersByTime(60_000)
  expect(footer.host.querySelector('iframe')).toBe(frame)
  expect(footer.block.hidden).toBe(false)
})

test('shows a slot of the layout again on a route change if its ad arrived too late', () => {
  const engine = startSlots(settings)
  const sidebar = createBlock('sidebar')
  add(engine, sidebar)
  engine.afterRoute()
  vi.advanceTimersByTime(5000)
  fill(sidebar)
  engine.afterRoute()
  expect(sidebar.block.hidden).toBe(false)
  expect(sidebar.host.querySelector('iframe')).not.toBeNull()
})

test('never renews the slots of lists', () => {
  const engine = startSlots(settings)
  const list = createBlock('list', 2)
  add(engine, list)
  engine.afterRoute()
  const placeholder = list.host.firstChild
  engine.afterRoute()
  expect(list.host.firstChild).toBe(placeholder)
})

test('serves the first 100 cards at once, and later ones near the viewport', () => {
  const engine = startSlots(settings)
  const last = createBlock('list', 98)
  const later = createBlock('list', 100)
  add(engine, last)
  add(engine, later)
  expect(last.host.childElementCount).toBe(1)
  expect(later.host.childElementCount).toBe(0)
  vi.advanceTimersByTime(20_000)
  expect(later.block.hidden).toBe(false)
  bringNear(later.block)
  expect(later.host.childElementCount).toBe(1)
  vi.advanceTimersByTime(4999)
  expect(later.block.hidden).toBe(false)
  vi.advanceTimersByTime(1)
  expect(later.block.hidden).toBe(true)
  expect(serveTimes()).toEqual([100, 20_100])
})

test('does not fill a removed block', () => {
  const later = createBlock('list', 100)
  add(startSlots(settings), later)()
  bringNear(later.block)
  expect(later.host.childElementCount).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})
