// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { AdBlockElements, AdPlace, SlotEngine, SlotSettings } from '../ad-slots.ts'
import { startSlots } from './start-slots.ts'

const settings: SlotSettings = {
  scriptUrl: '/api/proxy-ad/a.example/ad-provider.js',
  insClass: 'eas6a97888e2',
  zones: { header: '11', sidebar: '11', footer: '11', list: '22', recommended: '22' },
  fill: 'frame',
}

/** When the ad script was asked to serve, in ms since the test began, and how many placeholders there were. */
let served: { atMs: number; placeholders: number }[]
let startMs: number
let errors: unknown[][]
/** Tells the watchers of elements that these have come near the screen. */
let comeNear: (element: Element) => void

beforeEach(() => {
  vi.useFakeTimers()
  startMs = performance.now()
  served = []
  window.AdProvider = { push: recordServe }
  errors = []
  vi.spyOn(console, 'error').mockImplementation((...text) => void errors.push(text))
  vi.stubGlobal('IntersectionObserver', standInObserver())
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

/** jsdom has no layout, so nothing ever comes near by itself. */
function standInObserver() {
  const watched = new Map<Element, (entries: Partial<IntersectionObserverEntry>[]) => void>()
  comeNear = (target) => watched.get(target)?.([{ target, isIntersecting: true }])
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

function createBlock(place: AdPlace, position = 0): AdBlockElements {
  const block = document.createElement('div')
  const host = document.createElement('div')
  block.append(document.createElement('p'), host)
  document.body.append(block)
  return { block, host, place, position }
}

function add(engine: SlotEngine, elements: AdBlockElements): () => void {
  return engine.addBlock(elements, performance.now())
}

/** What the ad script does where it has an ad: a frame beside the placeholder, which it stamps. */
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

test('puts a placeholder of class and zone alone into the host', () => {
  const list = createBlock('list', 2)
  add(startSlots(settings), list)
  expect(list.host.innerHTML).toBe('<ins class="eas6a97888e2" data-zoneid="22"></ins>')
})

test('leaves an empty host behind, also where the script has put its frame beside the placeholder', () => {
  const list = createBlock('list', 2)
  const remove = add(startSlots(settings), list)
  fill(list)
  remove()
  expect(list.host.childNodes).toHaveLength(0)
  expect(vi.getTimerCount()).toBe(1) // The serve to come, which is harmless.
})

test('hides a block without a frame after 5,000 ms and not before', () => {
  const list = createBlock('list', 2)
  add(startSlots(settings), list)
  vi.advanceTimersByTime(4999)
  expect(list.block.hidden).toBe(false)
  vi.advanceTimersByTime(1)
  expect(list.block.hidden).toBe(true)
})

test('counts the 5,000 ms from when the block was rendered', () => {
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

test('keeps the place of a hidden block that a visitor may see, and gives up what lies below', () => {
  const engine = startSlots(settings)
  const [seen, below] = [createBlock('list', 2), createBlock('list', 4)]
  seen.block.getBoundingClientRect = () => new DOMRect(0, window.innerHeight - 1, 300, 300)
  below.block.getBoundingClientRect = () => new DOMRect(0, window.innerHeight, 300, 300)
  add(engine, seen)
  add(engine, below)
  vi.advanceTimersByTime(5000)
  expect([seen, below].map(({ block }) => [block.hidden, block.dataset['place']])).toEqual([
    [true, 'kept'],
    [true, undefined],
  ])
})

test('serves 100 ms after a list, once for the list and its blocks', () => {
  const engine = startSlots(settings)
  add(engine, createBlock('list', 2))
  add(engine, createBlock('list', 4))
  engine.afterList()
  vi.advanceTimersByTime(10_000)
  expect(served).toEqual([{ atMs: 100, placeholders: 2 }])
})

test('serves after each load of a list, also without blocks', () => {
  const engine = startSlots(settings)
  engine.afterList()
  vi.advanceTimersByTime(1000)
  engine.afterList()
  vi.advanceTimersByTime(1000)
  expect(serveTimes()).toEqual([100, 1100])
})

test('does not serve a list that was left before its turn', () => {
  const leave = startSlots(settings).afterList()
  vi.advanceTimersByTime(99)
  leave()
  vi.advanceTimersByTime(1000)
  expect(served).toEqual([])
})

test('serves blocks that come later in the same list 100 ms after they came', () => {
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

test('does not serve a route again that was left within 500 ms', () => {
  const engine = startSlots(settings)
  const leave = engine.afterRoute()
  vi.advanceTimersByTime(300)
  leave()
  engine.afterRoute()
  vi.advanceTimersByTime(2000)
  expect(serveTimes()).toEqual([0, 300, 800])
})

test('queues for a script that has not come yet', () => {
  delete window.AdProvider
  const engine = startSlots(settings)
  engine.afterRoute()
  expect(window.AdProvider).toEqual([{ serve: {} }])
})

test('tells the console alone where the script throws, and goes on', () => {
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

test('keeps the placeholders of the layout on the first route', () => {
  const engine = startSlots(settings)
  const header = createBlock('header')
  add(engine, header)
  const placeholder = header.host.firstChild
  engine.afterRoute()
  expect(header.host.firstChild).toBe(placeholder)
})

test('makes an empty slot of the layout anew on a route, and shows it for its 5,000 ms', () => {
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

test('leaves a filled slot of the layout alone on a route', () => {
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

test('shows a slot of the layout again on a route where its ad came too late for the last', () => {
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

test('never makes the slots of lists anew', () => {
  const engine = startSlots(settings)
  const list = createBlock('list', 2)
  add(engine, list)
  engine.afterRoute()
  const placeholder = list.host.firstChild
  engine.afterRoute()
  expect(list.host.firstChild).toBe(placeholder)
})

test('serves 100 cards at once, and later ones when they come near the screen', () => {
  const engine = startSlots(settings)
  const last = createBlock('list', 98)
  const later = createBlock('list', 100)
  add(engine, last)
  add(engine, later)
  expect(last.host.childElementCount).toBe(1)
  expect(later.host.childElementCount).toBe(0)
  vi.advanceTimersByTime(20_000)
  expect(later.block.hidden).toBe(false)
  comeNear(later.block)
  expect(later.host.childElementCount).toBe(1)
  vi.advanceTimersByTime(4999)
  expect(later.block.hidden).toBe(false)
  vi.advanceTimersByTime(1)
  expect(later.block.hidden).toBe(true)
  expect(serveTimes()).toEqual([100, 20_100])
})

test('forgets a far block that leaves the page', () => {
  const later = createBlock('list', 100)
  add(startSlots(settings), later)()
  comeNear(later.block)
  expect(later.host.childElementCount).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})

test('adds the script once, at the first block', () => {
  const engine = startSlots(settings)
  engine.afterRoute()
  expect(document.scripts).toHaveLength(0)
  for (const place of ['header', 'sidebar', 'footer', 'list'] as const)
    add(engine, createBlock(place))
  startSlots(settings).addBlock(createBlock('list', 2), performance.now())
  expect(document.scripts).toHaveLength(1)
  expect(document.scripts[0]?.getAttribute('src')).toBe(settings.scriptUrl)
  expect(document.scripts[0]?.async).toBe(true)
})

test('adds no script where the page has it already', () => {
  const script = document.createElement('script')
  script.type = 'text/plain' // What jsdom would not load either way.
  script.src = settings.scriptUrl
  document.head.append(script)
  add(startSlots(settings), createBlock('header'))
  expect(document.scripts).toHaveLength(1)
})

test('tells the console alone where the script cannot be loaded; the blocks are hidden in time', () => {
  const header = createBlock('header')
  add(startSlots(settings), header)
  document.scripts[0]?.dispatchEvent(new Event('error'))
  expect(errors).toHaveLength(1)
  expect(header.block.hidden).toBe(false)
  vi.advanceTimersByTime(5000)
  expect(header.block.hidden).toBe(true)
})
