// The banner slots of one visit: which slots have a zone. The engine that fills them is loaded on
// first use.
import type { AdsConfig } from '../../shared/contract.ts'
import { reportAdError } from './report-ad-error.ts'
import type { AdBlockElements, SlotEngine, SlotName, SlotSettings } from './slots/slot-engine.ts'

/** Each function that starts something returns its undo; `hideUnfilled` starts nothing. */
export interface AdSlots extends Pick<SlotEngine, 'afterList' | 'afterRoute' | 'hideUnfilled'> {
  hasZone(slotName: SlotName): boolean
  /** Fills a block that was rendered just now; hides it if it stays empty. */
  addBlock(elements: AdBlockElements): () => void
}

interface AdSlotsOptions {
  /** Called when the ad script or the engine cannot be loaded. */
  onBlocked(this: void): void
  loadEngine?: (settings: SlotSettings) => Promise<SlotEngine>
}

/** `undefined` without a provider, a script or a banner zone. */
export function createAdSlots(
  config: AdsConfig,
  { onBlocked, loadEngine = importEngine }: AdSlotsOptions,
): AdSlots | undefined {
  const settings = slotSettingsOf(config)
  if (!settings) return undefined
  const { scriptUrl, zones } = settings
  const block = (what: string, cause: unknown) => {
    reportAdError(what, cause)
    onBlocked()
  }
  const blocks = new Set<HTMLElement>()
  let loading: Promise<SlotEngine | undefined> | undefined
  const load = () =>
    (loading ??= loadEngine(settings).catch((error: unknown) => {
      block('the slots could not be loaded', error)
      return undefined
    }))
  return {
    hasZone: (slotName) => zones[slotName] !== undefined,
    addBlock(elements) {
      const renderedAtMs = performance.now()
      blocks.add(elements.block)
      const stop = onceLoaded(load(), (engine) => engine.addBlock(elements, renderedAtMs))
      return () => {
        blocks.delete(elements.block)
        stop()
      }
    },
    hideUnfilled() {
      void load().then((engine) => {
        if (engine) return engine.hideUnfilled()
        for (const element of blocks) element.hidden = true
      })
    },
    afterList: () => onceLoaded(load(), (engine) => engine.afterList()),
    afterRoute() {
      // Before the engine is loaded: the sooner a failure is known, the less has been shown.
      injectAdScript(scriptUrl, () => block('the script could not be loaded', scriptUrl))
      return onceLoaded(load(), (engine) => engine.afterRoute())
    },
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

/** Calls `start` with the loaded engine, unless undone before. Returns the undo of both. */
function onceLoaded(
  loading: Promise<SlotEngine | undefined>,
  start: (engine: SlotEngine) => () => void,
): () => void {
  let isUndone = false
  let stop: (() => void) | undefined
  void loading.then((engine) => {
    if (engine && !isUndone) stop = start(engine)
  })
  return () => {
    isUndone = true
    stop?.()
  }
}

/**
 * Adds the script unless the page already has one with this URL: two copies would both fill the
 * slots. `onFailure` is called if the script that was added cannot be loaded.
 */
function injectAdScript(url: string, onFailure: () => void): void {
  const { href } = new URL(url, document.baseURI)
  if (Array.from(document.scripts).some(({ src }) => src === href)) return
  const script = document.createElement('script')
  script.async = true
  script.src = url
  script.addEventListener('error', onFailure)
  // The page is held back while it is open whether there will be ads.
  script.addEventListener('load', () => document.querySelector('[name=banner-slots]')?.remove())
  document.head.append(script)
}
