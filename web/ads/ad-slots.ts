// The advertising of one visit as the page sees it: which places have a zone, and what the slots must hear of. What it does is loaded at first need.
import type { AdsConfig } from '../../shared/contract.ts'
import { reportAdError } from './report-ad-error.ts'

export type LayoutPlace = 'header' | 'sidebar' | 'footer'
export type ListPlace = 'list' | 'recommended'
export type AdPlace = LayoutPlace | ListPlace

/** What the slots need of the configuration. */
export interface SlotSettings {
  /** Address of the ad script. */
  scriptUrl: string
  /** Class of every placeholder. */
  insClass: string
  /** Zone id of each place; a place without one has no block. */
  zones: Partial<Record<AdPlace, string>>
  /** What counts as a filled block: an embedded frame, or any creative. */
  fill: 'frame' | 'creative'
}

/** One block on the page. `position` is the index of the card before it, 0 in the layout. */
export interface AdBlockElements {
  /** The element that is hidden where nothing comes. */
  block: HTMLElement
  /** An empty element inside, which belongs to the ad script. */
  host: HTMLElement
  place: AdPlace
  position: number
}

/** Each function answers its undo. */
export interface AdSlots {
  hasZone(place: AdPlace): boolean
  /** A block has been rendered: fills it, and hides it where nothing comes. */
  addBlock(elements: AdBlockElements): () => void
  /** A list has been loaded. */
  afterList(): () => void
  /** A route has been opened. */
  afterRoute(): () => void
}

/** What is loaded: the same, told when a block was rendered (`performance.now()`). */
export interface SlotEngine extends Pick<AdSlots, 'afterList' | 'afterRoute'> {
  addBlock(elements: AdBlockElements, renderedAtMs: number): () => void
}

type LoadEngine = (settings: SlotSettings) => Promise<SlotEngine>

/** `undefined` where there is nothing to show: no provider, no script or no zone. */
export function createAdSlots(
  config: AdsConfig,
  loadEngine: LoadEngine = importEngine,
): AdSlots | undefined {
  const settings = slotSettingsOf(config)
  if (!settings) return undefined
  let loading: Promise<SlotEngine> | undefined
  const load = () => (loading ??= loadEngine(settings).catch(rethrowReported))
  return {
    hasZone: (place) => settings.zones[place] !== undefined,
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

function rethrowReported(error: unknown): never {
  reportAdError('the slots could not be loaded', error)
  throw error
}

/** Calls `start` with the engine, unless undone before. Answers the undo of both. */
function onceLoaded(
  loading: Promise<SlotEngine>,
  start: (engine: SlotEngine) => () => void,
  giveUp: () => void = () => undefined,
): () => void {
  let isUndone = false
  let stop: (() => void) | undefined
  void loading.then(
    (engine) => {
      if (!isUndone) stop = start(engine)
    },
    () => giveUp(), // Reported where it failed.
  )
  return () => {
    isUndone = true
    stop?.()
  }
}
