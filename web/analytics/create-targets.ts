// All configured targets as one. Long lists are split, and an error in one target does not affect
// the others.
import type { AnalyticsConfig } from '../../shared/contract.ts'
import { ITEMS_PER_EVENT } from '../../shared/limits.ts'
import { createFirstParty } from './first-party.ts'
import { createGa4 } from './ga4.ts'
import { createPlausible } from './plausible.ts'
import { createUmami } from './umami.ts'
import type { TrackedEvent, Target } from './visitor-event.ts'

export function createTargets(config: AnalyticsConfig, activityUrl: string): Target {
  const { firstParty, ga4, plausible, umami } = config
  const targets = [
    ...(firstParty && !wantsPrivacy() ? [createFirstParty(activityUrl)] : []),
    ...(ga4 ? [createGa4(ga4)] : []),
    ...(plausible ? [createPlausible(plausible)] : []),
    ...(umami ? [createUmami(umami)] : []),
  ]
  return (tracked) => {
    for (const part of splitList(tracked)) for (const target of targets) send(target, part)
  }
}

/** Global Privacy Control, or the older Do Not Track. */
function wantsPrivacy(): boolean {
  const control: unknown = Reflect.get(navigator, 'globalPrivacyControl')
  return control === true || Reflect.get(navigator, 'doNotTrack') === '1'
}

function splitList(tracked: TrackedEvent): TrackedEvent[] {
  const { event } = tracked
  if (event.name !== 'view_item_list') return [tracked]
  const count = Math.ceil(event.items.length / ITEMS_PER_EVENT)
  return Array.from({ length: count }, (_, at) => {
    const items = event.items.slice(at * ITEMS_PER_EVENT, (at + 1) * ITEMS_PER_EVENT)
    return { ...tracked, event: { ...event, items } }
  })
}

function send(target: Target, tracked: TrackedEvent): void {
  try {
    target(tracked)
  } catch {
    // A third-party script that throws must not affect the page or the other targets.
  }
}
