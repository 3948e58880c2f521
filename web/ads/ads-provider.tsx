// Creates the ad slots once the configuration is loaded, and serves them on every route change.
import { createContext, use, useEffect, useMemo } from 'react'
import type { ReactNode } from 'react'
import { useLocation } from 'react-router'
import type { ConfigResponse } from '../../shared/contract.ts'
import type { LoadState, Resource } from '../api/resource.ts'
import { useResource } from '../api/use-resource.ts'
import { createAdSlots } from './ad-slots.ts'
import type { AdSlots } from './ad-slots.ts'

interface AdsProviderProps {
  config: Resource<ConfigResponse>
  children: ReactNode
}

const AdSlotsContext = createContext<AdSlots | undefined>(undefined)

export function AdsProvider({ config, children }: AdsProviderProps) {
  const state = useResource(config)
  const { key } = useLocation()
  const ads = state.status === 'loaded' ? state.value.ads : undefined
  // For identity, not speed: all blocks must share one `AdSlots`.
  const slots = useMemo(() => ads && createAdSlots(ads), [ads])
  useEffect(() => slots?.afterRoute(), [slots, key])
  return <AdSlotsContext value={slots}>{children}</AdSlotsContext>
}

/** `undefined` until the configuration is loaded, and without ads. */
export function useAdSlots(): AdSlots | undefined {
  return use(AdSlotsContext)
}

/** Serves the slots after each load of a list. */
export function useAdsAfterList(list: LoadState<unknown>): void {
  const slots = useAdSlots()
  useEffect(() => (list.status === 'loaded' ? slots?.afterList() : undefined), [slots, list])
}
