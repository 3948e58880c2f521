// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { MockInstance } from 'vitest'
import type { AdsConfig } from '../../shared/contract.ts'
import { createAdSlots } from './ad-slots.ts'
import type { AdBlockElements, SlotEngine } from './slots/slot-engine.ts'
import { soon } from '../../test/support/patience.ts'

let report: MockInstance<Console['error']>
const onBlocked = vi.fn<() => void>()

beforeEach(() => {
  report = vi.spyOn(console, 'error').mockReturnValue()
})

afterEach(() => {
  vi.restoreAllMocks()
  onBlocked.mockClear()
  document.head.replaceChildren()
})

const network = {
  provider: 'network',
  scriptPath: '/api/proxy-ad/a.example/ad-provider.js',
  insClass: 'x',
  zones: { banner: '1', inline: '2' },
  fill: 'frame',
} satisfies AdsConfig

/** An engine that records its calls and their undos. */
function createEngine() {
  const calls: string[] = []
  const recorded = (name: string) => () => {
    calls.push(name)
    return () => void calls.push(`undo ${name}`)
  }
  const engine: SlotEngine = {
    addBlock: recorded('block'),
    hideUnfilled: () => void calls.push('hide'),
    afterList: recorded('list'),
    afterRoute: recorded('route'),
  }
  return { engine, calls }
}

function createBlock(): AdBlockElements {
  const [block, host] = [document.createElement('div'), document.createElement('div')]
  return { block, host, slotName: 'list', cardIndex: 2 }
}

const { scriptPath: _scriptPath, ...scriptless } = network

test.each<[string, AdsConfig]>([
  ['no provider', { provider: 'none' }],
  ['no script', scriptless],
  ['only the zone of the pre-roll', { ...network, zones: { video: '3' } }],
])('has no slots with %s', (_what, config) => {
  expect(createAdSlots(config, { onBlocked })).toBeUndefined()
})

test('a slot without a zone has no block', () => {
  const slots = createAdSlots({ ...network, zones: { inline: '2' } }, { onBlocked })
  const slotNames = ['header', 'sidebar', 'footer', 'list', 'recommended'] as const
  expect(slotNames.filter((slotName) => slots?.hasZone(slotName))).toEqual(['list', 'recommended'])
})

test('loads the engine once, on first use', async () => {
  const { engine, calls } = createEngine()
  const load = vi.fn<() => Promise<SlotEngine>>(async () => engine)
  const slots = createAdSlots(network, { onBlocked, loadEngine: load })
  expect(load).not.toHaveBeenCalled()
  slots?.addBlock(createBlock())
  slots?.afterRoute()
  slots?.afterList()
  await vi.waitFor(() => expect(calls).toEqual(['block', 'route', 'list']), soon)
  expect(load).toHaveBeenCalledTimes(1)
})

test('does not start what was undone during the load, and undoes the rest', async () => {
  const { engine, calls } = createEngine()
  const slots = createAdSlots(network, { onBlocked, loadEngine: async () => engine })
  slots?.addBlock(createBlock())()
  const leave = slots?.afterRoute()
  await vi.waitFor(() => expect(calls).toEqual(['route']), soon)
  leave?.()
  expect(calls).toEqual(['route', 'undo route'])
})

test('reports ads as blocked, once, if the engine cannot be loaded', async () => {
  const loadEngine = () => Promise.reject(new Error('offline'))
  const slots = createAdSlots(network, { onBlocked, loadEngine })
  slots?.addBlock(createBlock())
  slots?.addBlock(createBlock())
  slots?.afterRoute()
  await vi.waitFor(() => expect(onBlocked).toHaveBeenCalled(), soon)
  expect(onBlocked).toHaveBeenCalledTimes(1)
  expect(report).toHaveBeenCalledTimes(1)
})

test('adds the script once, on the first route', () => {
  const { engine } = createEngine()
  const options = { onBlocked, loadEngine: async () => engine }
  const slots = createAdSlots(network, options)
  expect(document.scripts).toHaveLength(0)
  slots?.afterRoute()
  slots?.afterRoute()
  createAdSlots(network, options)?.afterRoute()
  expect(document.scripts).toHaveLength(1)
  expect(document.scripts[0]?.getAttribute('src')).toBe(network.scriptPath)
  expect(document.scripts[0]?.async).toBe(true)
})

test('reports ads as blocked at once if the script cannot be loaded', () => {
  const { engine } = createEngine()
  createAdSlots(network, { onBlocked, loadEngine: async () => engine })?.afterRoute()
  expect(onBlocked).not.toHaveBeenCalled()
  document.scripts[0]?.dispatchEvent(new Event('error'))
  expect(onBlocked).toHaveBeenCalledTimes(1)
  expect(report).toHaveBeenCalledTimes(1)
})
