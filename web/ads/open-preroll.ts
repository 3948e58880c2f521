// Starts the pre-roll, if there is one, and reports when the main video may start. The pre-roll's
// code is loaded only with an ad.
import type { ConfigResponse } from '../../shared/contract.ts'
import type { Resource } from '../api/resource.ts'
import type { PrerollTarget } from './preroll/run-preroll.ts'
import { withTimeout } from '../../shared/with-timeout.ts'

interface PrerollOptions extends PrerollTarget {
  config: Resource<ConfigResponse>
  /** The ad is requested after this resolves: a refused session shows none. */
  opened: Promise<void>
  /** Called once, when there is no overlay or it was removed; not after the undo. */
  onOver: () => void
}

/** Without a configuration by then, no ad is shown. */
const CONFIG_TIMEOUT_MS = 1500
/** For configuration, playlist, code and VAST documents together, once the tab is visible. */
const AD_TIMEOUT_MS = 5000

/** Shows a pre-roll over the stage if one is configured. Returns the undo. */
export function openPreroll(options: PrerollOptions): () => void {
  const left = new AbortController()
  const finish = () => {
    if (!left.signal.aborted) options.onOver()
  }
  // A failure only skips the ad; the video always plays.
  void show(options, left.signal).then(finish, finish)
  return () => left.abort()
}

async function show(options: PrerollOptions, signal: AbortSignal): Promise<void> {
  const { config, stage, covered, opened } = options
  await pageVisible(signal)
  const startMs = performance.now()
  const vastUrl = await findPreroll(config, signal)
  if (vastUrl === undefined) return
  await opened
  const { showPreroll } = await withTimeout(() => import('./preroll/show-preroll.ts'), {
    timeoutMs: remainingMs(startMs),
    signal,
  })
  const timeoutMs = remainingMs(startMs)
  await showPreroll(vastUrl, { stage, covered, timeoutMs, signal })
}

function remainingMs(startMs: number): number {
  return AD_TIMEOUT_MS - (performance.now() - startMs)
}

/** URL of the VAST document; undefined if none is configured. */
export function prerollUrl({ ads }: ConfigResponse): string | undefined {
  if (ads.provider === 'none' || !ads.vastUrl || !ads.zones.video) return undefined
  const zone = encodeURIComponent(ads.zones.video)
  const url = ads.vastUrl.replaceAll('{zone}', () => zone)
  return URL.canParse(url, location.href) ? new URL(url, location.href).href : undefined
}

/** URL of the VAST document once the configuration is loaded. Rejects without one. */
export async function findPreroll(
  config: Resource<ConfigResponse>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const state = config.read()
  if (state.status === 'loaded') return prerollUrl(state.value)
  const load = (limited: AbortSignal) => config.settled(limited)
  return prerollUrl(await withTimeout(load, { timeoutMs: CONFIG_TIMEOUT_MS, signal }))
}

/** A hidden tab loads no ad: the video does not start there either. */
function pageVisible(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve()
  return new Promise((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true, signal })
  })
}
