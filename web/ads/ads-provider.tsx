// Creates the ad slots once the configuration is loaded, serves them on every route change, and
// removes them with their room if they are blocked.
import {
  createContext,
  use,
  useCallback,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react'
import type { ReactNode } from 'react'
import { useLocation } from 'react-router'
import type { ConfigResponse } from '../../shared/contract.ts'
import type { LoadState, Resource } from '../api/resource.ts'
import { useResource } from '../api/use-resource.ts'
import { createAdSlots } from './ad-slots.ts'
import type { AdSlots } from './ad-slots.ts'
import { createBlockedAds } from './blocked-ads.ts'
import type { BlockedAds } from './blocked-ads.ts'

interface AdsProviderProps {
  config: Resource<ConfigResponse>
  children: ReactNode
}

interface Ads {
  /** Absent until the configuration is loaded, without ads, and if they are blocked. */
  slots: AdSlots | undefined
  /** Where slots may take room. */
  room: 'everywhere' | 'header' | 'none'
}

const NONE: Ads = { slots: undefined, room: 'none' }
const AdsContext = createContext<Ads>(NONE)

export function AdsProvider({ config, children }: AdsProviderProps) {
  const state = useResource(config)
  const { key } = useLocation()
  const [store] = useState(() => createBlockedAds(() => sessionStorage))
  const room = useRoom(store, key)
  const adsConfig = state.status === 'loaded' ? state.value.ads : undefined
  // For identity, not speed: all blocks must share one `AdSlots`.
  const slots = useMemo(
    () => adsConfig && createAdSlots(adsConfig, { onBlocked: store.setBlocked }),
    [adsConfig, store],
  )
  const isBlocked = useSyncExternalStore(store.subscribe, store.read)
  useEffect(() => (isBlocked ? undefined : slots?.afterRoute()), [slots, isBlocked, key])
  useEffect(() => {
    if (isBlocked && room !== 'none') slots?.hideUnfilled()
  }, [slots, isBlocked, room])
  const ads = useMemo(() => (room === 'none' ? NONE : { slots, room }), [slots, room])
  return <AdsContext value={ads}>{children}</AdsContext>
}

/**
 * If ads turn out to be blocked on the page with this key, their room stays until the first click
 * or input: collapsing it would move what the visitor sees. Before a list or a video is shown, only
 * that of the header stays, and none while styles hide the banner and what is below it.
 */
function useRoom({ read, subscribe }: BlockedAds, key: string): Ads['room'] {
  const [late, setLate] = useState<{ key: string; room: Ads['room'] }>()
  const subscribeTo = useCallback(
    (onChange: () => void) =>
      subscribe(() => {
        const room =
          document.querySelector('main :is(li, video)') === null ? 'header' : 'everywhere'
        const banner = document.querySelector('.site-banner') ?? document.body
        if (getComputedStyle(banner).visibility !== 'hidden') setLate({ key, room })
        onChange()
      }),
    [subscribe, key],
  )
  const isBlocked = useSyncExternalStore(subscribeTo, read)
  const isReserved = isBlocked && late?.key === key
  useEffect(() => {
    if (!isReserved) return undefined
    const left = new AbortController()
    for (const input of ['click', 'input'])
      addEventListener(input, () => setLate(undefined), { signal: left.signal })
    return () => left.abort()
  }, [isReserved])
  if (!isBlocked) return 'everywhere'
  return isReserved ? late.room : 'none'
}

/** `undefined` until the configuration is loaded, and without ads. */
export function useAdSlots(): AdSlots | undefined {
  return use(AdsContext).slots
}

/** Where slots may take room, as far as is known. */
export function useAdRoom(): Ads['room'] {
  return use(AdsContext).room
}

/** Serves the slots after each load of a list. */
export function useAdsAfterList(list: LoadState<unknown>): void {
  const slots = useAdSlots()
  useEffect(() => (list.status === 'loaded' ? slots?.afterList() : undefined), [slots, list])
}
