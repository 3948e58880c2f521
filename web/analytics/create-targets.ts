// All configured targets as one: lists are cut to what one event may carry, and no target disturbs another.
import type { AnalyticsConfig } from '../../shared/contract.ts'
import { ITEMS_PER_EVENT } from '../../shared/limits.ts'
import { createFirstParty } from './first-party.ts'
import { createGa4 } from './ga4.ts'
import { createPlausible } from './plausible.ts'
import { createUmami } from './umami.ts'
import type { Sighting, Target } from './visitor-event.ts'

export function createTargets(config: AnalyticsConfig, activityUrl: string): Target {
  const { firstParty, ga4, plausible, umami } = config
  const targets = [
    ...(firstParty && !wantsPrivacy() ? [createFirstParty(activityUrl)] : []),
    ...(ga4 ? [createGa4(ga4)] : []),
    ...(plausible ? [createPlausible(plausible)] : []),
    ...(umami ? [createUmami(umami)] : []),
  ]
  return (sighting) => {
    for (const part of cutList(sighting)) for (const target of targets) tell(target, part)
  }
}

/** Global Privacy Control, or the older Do Not Track. */
function wantsPrivacy(): boolean {
  const control: unknown = Reflect.get(navigator, 'globalPrivacyControl')
  return control === true || Reflect.get(navigator, 'doNotTrack') === '1'
}

function cutList(sighting: Sighting): Sighting[] {
  const { event } = sighting
  if (event.name !== 'view_item_list') return [sighting]
  const count = Math.ceil(event.items.length / ITEMS_PER_EVENT)
  return Array.from({ length: count }, (_, at) => {
    const items = event.items.slice(at * ITEMS_PER_EVENT, (at + 1) * ITEMS_PER_EVENT)
    return { ...sighting, event: { ...event, items } }
  })
}

function tell(target: Target, sighting: Sighting): void {
  try {
    target(sighting)
  } catch {
    // A stranger's script that throws must harm neither the page nor the other targets.
  }
}
