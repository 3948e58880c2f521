// Chapters of a session: valid, in order, of limited number. Pure.
import { cleanTitle } from '../../base/clean-text.ts'

/** Limit of the contract. */
export const MAX_CHAPTERS = 500
/** Entries of a file that are read. */
export const MAX_READ_CHAPTERS = 20 * MAX_CHAPTERS
/** No session is longer. */
const MAX_SECONDS = 10_000_000

export interface Chapter {
  /** Seconds from the start of the session. */
  startSeconds: number
  endSeconds?: number
  title: string
}

/** A chapter as a file has it. */
export interface RawChapter {
  startSeconds: unknown
  endSeconds?: unknown
  title?: unknown
}

/**
 * The valid chapters by start, at most MAX_CHAPTERS, each start once. A chapter without a title is
 * named by its number.
 */
export function orderChapters(raw: readonly RawChapter[]): Chapter[] {
  const starts = new Set<number>()
  const timed = raw.slice(0, MAX_READ_CHAPTERS).flatMap((chapter) => {
    const startSeconds = parseSeconds(chapter.startSeconds)
    if (startSeconds === undefined || starts.has(startSeconds)) return []
    starts.add(startSeconds)
    const endSeconds = parseSeconds(chapter.endSeconds)
    const hasEnd = endSeconds !== undefined && endSeconds > startSeconds
    return [{ startSeconds, ...(hasEnd && { endSeconds }), title: chapter.title }]
  })
  return timed
    .toSorted((a, b) => a.startSeconds - b.startSeconds)
    .slice(0, MAX_CHAPTERS)
    .map((chapter, at) => ({ ...chapter, title: cleanTitle(chapter.title) ?? `Chapter ${at + 1}` }))
}

/** Those that start in a session of this length, which is also the latest end. */
export function fitChapters(chapters: readonly Chapter[], durationSeconds: number): Chapter[] {
  return chapters
    .filter(({ startSeconds }) => startSeconds < durationSeconds)
    .map((chapter) =>
      chapter.endSeconds === undefined
        ? chapter
        : { ...chapter, endSeconds: Math.min(chapter.endSeconds, durationSeconds) },
    )
}

/** Whole milliseconds, in seconds. */
function parseSeconds(value: unknown): number | undefined {
  if (typeof value !== 'number' || !(value >= 0 && value <= MAX_SECONDS)) return undefined
  return Math.round(value * 1000) / 1000
}
