// @vitest-environment jsdom
import { afterEach, expect, test, vi } from 'vitest'
import type { AdsConfig } from '../../shared/contract.ts'
import { createAdSlots } from './ad-slots.ts'
import type { AdBlockElements, SlotEngine } from './slots/slot-engine.ts'
import { soon } from '../../test/support/patience.ts'

afterEach(() => void vi.restoreAllMocks())

const network: AdsConfig = {
  provider: 'network',
  scriptPath: '/api/proxy-ad/a.example/ad-provider.js',
  insClass: 'x',
  zones: { banner: '1', inline: '2' },
  fill: 'frame',
}

/** An engine that records its calls and their undos. */
function createEngine() {
  const calls: string[] = []
  const recorded = (name: string) => () => {
    calls.push(name)
    return () => void calls.push(`undo ${name}`)
  }
  const engine: SlotEngine = {
    addBlock: recorded('block'),
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
  expect(createAdSlots(config)).toBeUndefined()
})

test('a slot without a zone has no block', () => {
  const slots = createAdSlots({ ...network, zones: { inline: '2' } })
  const slotNames = ['header', 'sidebar', 'footer', 'list', 'recommended'] as const
  expect(slotNames.filter((slotName) => slots?.hasZone(slotName))).toEqual(['list', 'recommended'])
})

test('loads the engine once, on first use', async () => {
  const { engine, calls } = createEngine()
  const load = vi.fn<() => Promise<SlotEngine>>(async () => engine)
  const slots = createAdSlots(network, load)
  expect(load).not.toHaveBeenCalled()
  slots?.addBlock(createBlock())
  slots?.afterRoute()
  slots?.afterList()
  await vi.waitFor(() => expect(calls).toEqual(['block', 'route', 'list']), soon)
  expect(load).toHaveBeenCalledTimes(1)
})

test('does not start what was undone during the load, and undoes the rest', async () => {
  const { engine, calls } = createEngine()
  const slots = createAdSlots(network, async () => engine)
  slots?.addBlock(createBlock())()
  const leave = slots?.afterRoute()
  await vi.waitFor(() => expect(calls).toEqual(['route']), soon)
  leave?.()
  expect(calls).toEqual(['route', 'undo route'])
})

test('hides the blocks and reports once if the engine cannot be loaded', async () => {
  const report = vi.spyOn(console, 'error').mockReturnValue()
  const slots = createAdSlots(network, () => Promise.reject(new Error('offline')))
  const blocks = [createBlock(), createBlock()]
  for (const block of blocks) slots?.addBlock(block)
  slots?.afterRoute()
  await vi.waitFor(
    () => expect(blocks.map(({ block }) => block.hidden)).toEqual([true, true]),
    soon,
  )
  expect(report).toHaveBeenCalledTimes(1)
})
