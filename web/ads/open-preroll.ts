// The door to the pre-roll: says when the main video may start, with an ad before it or without.
import type { ConfigAnswer } from '../../shared/contract.ts'
import type { Resource } from '../api/resource.ts'
import type { PrerollPlace } from './preroll/run-preroll.ts'
import { withinTime } from '../../shared/within-time.ts'

interface PrerollOptions extends PrerollPlace {
  config: Resource<ConfigAnswer>
  /** Called once, when the overlay is gone or there is none; not after the visitor has left. */
  onOver: () => void
}

/** Without a configuration by then there is no ad. */
const CONFIG_WAIT_MS = 1500
/** From the entry (in a tab behind others: from when it is looked at) until there is an ad, with all that must be loaded for it. */
const FIND_LIMIT_MS = 5000

/** Shows a pre-roll over the stage where the configuration has one. Answers the function that ends all of it. */
export function openPreroll({ config, onOver, ...place }: PrerollOptions): () => void {
  const left = new AbortController()
  const over = () => {
    if (!left.signal.aborted) onOver()
  }
  // Whatever fails here costs the ad, never the video.
  void show(config, place, left.signal).then(over, over)
  return () => left.abort()
}

async function show(
  config: Resource<ConfigAnswer>,
  place: PrerollPlace,
  signal: AbortSignal,
): Promise<void> {
  await pageSeen(signal)
  const begunMs = performance.now()
  const vastUrl = prerollUrl(await settledConfig(config, signal))
  if (vastUrl === undefined) return
  const { showPreroll } = await withinTime(() => import('./preroll/show-preroll.ts'), {
    timeoutMs: remainingMs(begunMs),
    signal,
  })
  await showPreroll(vastUrl, { ...place, timeoutMs: remainingMs(begunMs), signal })
}

function remainingMs(begunMs: number): number {
  return FIND_LIMIT_MS - (performance.now() - begunMs)
}

/** Where the ad is asked for; undefined where the configuration has none. */
export function prerollUrl({ ads }: ConfigAnswer): string | undefined {
  if (ads.provider === 'none' || !ads.vastUrl || !ads.zones.video) return undefined
  const zone = encodeURIComponent(ads.zones.video)
  const address = ads.vastUrl.replaceAll('{zone}', () => zone)
  return URL.canParse(address, location.href) ? new URL(address, location.href).href : undefined
}

function settledConfig(config: Resource<ConfigAnswer>, signal: AbortSignal): Promise<ConfigAnswer> {
  const state = config.read()
  if (state.status === 'loaded') return Promise.resolve(state.value)
  return withinTime((limited) => config.settled(limited), { timeoutMs: CONFIG_WAIT_MS, signal })
}

/** An ad in a tab that nobody looks at helps nobody, and the video waits there as well. */
function pageSeen(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve()
  return new Promise((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true, signal })
  })
}
