// The banner slots of one visit: which slots have a zone. The engine that fills them is loaded on
// first use.
import type { AdsConfig } from '../../shared/contract.ts'
import { reportAdError } from './report-ad-error.ts'
import type { AdBlockElements, SlotEngine, SlotName, SlotSettings } from './slots/slot-engine.ts'

/** Each function that starts something returns its undo. */
export interface AdSlots extends Pick<SlotEngine, 'afterList' | 'afterRoute'> {
  hasZone(slotName: SlotName): boolean
  /** Fills a block that was rendered just now; hides it if it stays empty. */
  addBlock(elements: AdBlockElements): () => void
}

type LoadEngine = (settings: SlotSettings) => Promise<SlotEngine>

/** `undefined` without a provider, a script or a banner zone. */
export function createAdSlots(
  config: AdsConfig,
  loadEngine: LoadEngine = importEngine,
): AdSlots | undefined {
  const settings = slotSettingsOf(config)
  if (!settings) return undefined
  let loading: Promise<SlotEngine> | undefined
  const load = () => (loading ??= loadEngine(settings).catch(reportAndRethrow))
  return {
    hasZone: (slotName) => settings.zones[slotName] !== undefined,
    addBlock(elements) {
      const renderedAtMs = performance.now()
      const start = (engine: SlotEngine) => engine.addBlock(elements, renderedAtMs)
      return onceLoaded(load(), start, () => (elements.block.hidden = true))
    },
    afterList: () => onceLoaded(load(), (engine) => engine.afterList()),
    afterRoute: () => onceLoaded(load(), (engine) => engine.afterRoute()),
  }
}

function slotSettingsOf(config: AdsConfig): SlotSettings | undefined {
  if (config.provider === 'none' || config.scriptPath === undefined) return undefined
  const { banner, inline } = config.zones
  if (banner === undefined && inline === undefined) return undefined
  return {
    scriptUrl: config.scriptPath,
    insClass: config.insClass,
    zones: {
      ...(banner !== undefined && { header: banner, sidebar: banner, footer: banner }),
      ...(inline !== undefined && { list: inline, recommended: inline }),
    },
    fill: config.fill,
  }
}

async function importEngine(settings: SlotSettings): Promise<SlotEngine> {
  const { startSlots } = await import('./slots/start-slots.ts')
  return startSlots(settings)
}

function reportAndRethrow(error: unknown): never {
  reportAdError('the slots could not be loaded', error)
  throw error
}

/** Calls `start` with the loaded engine, unless undone before. Returns the undo of both. */
function onceLoaded(
  loading: Promise<SlotEngine>,
  start: (engine: SlotEngine) => () => void,
  onFailure: () => void = () => undefined,
): () => void {
  let isUndone = false
  let stop: (() => void) | undefined
  void loading.then(
    (engine) => {
      if (!isUndone) stop = start(engine)
    },
    () => onFailure(), // `reportAndRethrow` has reported the error.
  )
  return () => {
    isUndone = true
    stop?.()
  }
}
