// Which parts of each session this visitor has watched, stored in this browser only.
import type { SessionReference } from '../../shared/paths.ts'
import { createStoredEntries } from './stored-entries.ts'

/** An interval of the session, in seconds. */
export interface WatchedSpan {
  startSeconds: number
  endSeconds: number
}

type Pair = [startSeconds: number, endSeconds: number]

const entries = createStoredEntries({
  storageKey: 'aftercast.spans',
  limit: 50,
  isValid: (values): values is [spans: Pair[]] => values.length === 1 && isPairList(values[0]),
})

/** Beyond, the closest ones are joined. */
const MAX_SPANS = 24
/** Shorter gaps are not visible. */
const JOINED_SECONDS = 2

/** The stored spans in order; none if storage is off. `open` may throw. */
export function readWatchedSpans(session: SessionReference, open?: () => Storage): WatchedSpan[] {
  const [spans] = entries.find(session, open) ?? [[]]
  return spans.map(([startSeconds, endSeconds]) => ({ startSeconds, endSeconds }))
}

/** Adds spans to the stored ones. */
export function addWatchedSpans(
  session: SessionReference,
  added: readonly WatchedSpan[],
  open?: () => Storage,
): void {
  if (added.length === 0) return
  const spans = joinSpans([...readWatchedSpans(session, open), ...added])
  const pairs = spans.map(({ startSeconds, endSeconds }): Pair => [
    Math.floor(startSeconds),
    Math.ceil(endSeconds),
  ])
  entries.write(session, [pairs], open)
}

/** The same parts in order, without overlaps and small gaps; at most 24. */
export function joinSpans(spans: readonly WatchedSpan[]): WatchedSpan[] {
  const joined = joinCloser(spans, JOINED_SECONDS)
  if (joined.length <= MAX_SPANS) return joined
  const gaps = joined.slice(1).map((span, at) => span.startSeconds - (joined[at]?.endSeconds ?? 0))
  return joinCloser(joined, gaps.toSorted((a, b) => a - b)[joined.length - MAX_SPANS - 1] ?? 0)
}

/** Joins spans with a gap of at most `gapSeconds`. */
function joinCloser(spans: readonly WatchedSpan[], gapSeconds: number): WatchedSpan[] {
  const joined: WatchedSpan[] = []
  for (const span of spans.toSorted((a, b) => a.startSeconds - b.startSeconds)) {
    const last = joined.at(-1)
    if (last && span.startSeconds - last.endSeconds <= gapSeconds) {
      last.endSeconds = Math.max(last.endSeconds, span.endSeconds)
    } else {
      joined.push({ ...span })
    }
  }
  return joined
}

function isPairList(list: unknown): boolean {
  return Array.isArray(list) && list.length <= MAX_SPANS && list.every(isPair)
}

function isPair(pair: unknown): boolean {
  return Array.isArray(pair) && pair.length === 2 && pair.every((value) => Number.isFinite(value))
}
