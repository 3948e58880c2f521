// The other sessions of a page with several views, in its URL: `?with=bob/2026-01-31/1,eve/…@-1.5`.
// Pure.
import { parseSessionKey, sessionKey } from '../../../shared/paths.ts'
import type { SessionReference } from '../../../shared/paths.ts'

/** A session that is shown beside another one. */
export interface View extends SessionReference {
  /** The visitor's correction: this view is later by these seconds than the clocks say. */
  shiftSeconds: number
}

/** With the session of the page, four. */
export const MAX_VIEWS = 3
/** That a visitor can enter. */
export const MAX_SHIFT_SECONDS = 3600
/** From one view to another one. */
const MAX_DIFFERENCE_SECONDS = 2 * MAX_SHIFT_SECONDS

/** Parses the parameter `with`: at most `MAX_VIEWS`, each once; what is malformed is left out. */
export function parseViews(value: string, own: SessionReference): View[] {
  const views: View[] = []
  // Bounds the work for a URL of any length.
  for (const part of value.split(',', 4 * MAX_VIEWS)) {
    const [key = '', shift = '0'] = part.split('@')
    const session = parseSessionKey(key)
    const shiftSeconds = Number(shift)
    const isKnown = session && [own, ...views].some((other) => isSame(other, session))
    if (!session || isKnown || !(Math.abs(shiftSeconds) <= MAX_DIFFERENCE_SECONDS)) continue
    views.push({ ...session, shiftSeconds })
  }
  return views.slice(0, MAX_VIEWS)
}

/** The value of the parameter `with`. */
export function formatViews(views: readonly View[]): string {
  return views
    .map((view) => sessionKey(view) + (view.shiftSeconds === 0 ? '' : `@${view.shiftSeconds}`))
    .join(',')
}

/** The views of the page of one of them, which shows the same moments. */
export function viewsFrom(chosen: View, own: SessionReference, views: readonly View[]): View[] {
  return [{ ...own, shiftSeconds: 0 }, ...views.filter((view) => view !== chosen)].map((view) => ({
    ...view,
    shiftSeconds: Number((view.shiftSeconds - chosen.shiftSeconds).toFixed(3)),
  }))
}

/** Whether both name the same session. */
export function isSame(some: SessionReference, other: SessionReference): boolean {
  return sessionKey(some) === sessionKey(other)
}
