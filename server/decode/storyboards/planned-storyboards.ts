// The storyboard of a session, planned once for each state of its recordings: a growing one is
// requested every few seconds by each viewer.
import { planStoryboard } from './plan-storyboard.ts'
import type { PlannedPart, StoryboardPlan } from './plan-storyboard.ts'
import { listSheets } from './sheets.ts'
import type { Sheet } from './sheets.ts'

export interface Storyboard {
  plan: StoryboardPlan
  sheets: readonly Sheet[]
}

interface Planned {
  parts: readonly PlannedPart[]
  storyboard: Storyboard | undefined
}

export class PlannedStoryboards {
  /** By the split points of the first recording, which another index replaces. */
  readonly #planned = new WeakMap<PlannedPart['splitPoints'], Planned>()

  /** Undefined for a session without any listed key frame. */
  find(parts: readonly PlannedPart[]): Storyboard | undefined {
    const [first] = parts
    if (first === undefined) return undefined
    const known = this.#planned.get(first.splitPoints)
    if (known !== undefined && areEqual(known.parts, parts)) return known.storyboard
    const plan = planStoryboard(parts)
    const storyboard = plan && { plan, sheets: listSheets(parts, plan) }
    this.#planned.set(first.splitPoints, { parts, storyboard })
    return storyboard
  }
}

function areEqual(some: readonly PlannedPart[], others: readonly PlannedPart[]): boolean {
  return (
    some.length === others.length &&
    some.every((part, i) => {
      const { splitPoints, listedSplitPoints, identity, durationSeconds } = others[i] ?? part
      return (
        part.splitPoints === splitPoints &&
        part.listedSplitPoints === listedSplitPoints &&
        part.identity === identity &&
        part.durationSeconds === durationSeconds
      )
    })
  )
}
