// Finds what corrupt sample tables make unplayable: GOPs without their key frame, and split points
// without any readable sample.
import {
  type MediaIndex,
  MAX_LIMITATIONS,
  SPLIT_KEY_FRAME,
  SPLIT_UNREADABLE,
  secondsFromTicks,
} from '../../media-index.ts'
import { UnplayableError } from '../../../base/errors.ts'
import type { Mp4Source, Mp4Track } from '../mp4-source.ts'
import { sampleRange } from '../sample-tables/read-sample-run.ts'
import type { EntryRange } from '../sample-tables/table-entries.ts'

/** The index with flags and limitations for unreadable samples; unchanged if there are none. */
export function markUnreadable(index: MediaIndex, source: Mp4Source): MediaIndex {
  if (source.tracks.every(({ samples }) => samples.unreadable === undefined)) return index
  const flags = index.splitPoints.flags.slice()
  const tracks = source.tracks.map((track) =>
    track.kind === 'video' ? withoutLostGops(track, flags) : track,
  )
  const [video, audio] = (['video', 'audio'] as const).map((kind) =>
    tracks.find((track) => track.kind === kind),
  )
  const served = [video, audio].filter((track) => track !== undefined)
  flags.forEach((flag, at) => {
    const counts = served.map((track) => readableSamples(track, at))
    const hasNone = counts.every(({ readable }) => readable === 0)
    if (hasNone && counts.some(({ all }) => all > 0)) flags[at] = flag | SPLIT_UNREADABLE
  })
  if (flags.every((flag) => (flag & SPLIT_UNREADABLE) !== 0)) {
    throw new UnplayableError({ code: 'sample-sizes-invalid' })
  }
  const { splitPoints, limitations = [] } = index
  const limitation = {
    code: 'samples-unreadable',
    samples: tracks.reduce((sum, { samples }) => sum + countIn(samples.unreadable, ALL), 0),
    seconds: firstSeconds(tracks, index),
  } as const
  return {
    ...index,
    splitPoints: { ...splitPoints, flags },
    limitations: [...limitations, limitation].slice(-MAX_LIMITATIONS),
    source: { ...source, tracks },
  }
}

const ALL: EntryRange = { from: 0, to: Infinity }

/**
 * The video without the samples that need an unreadable key frame. The split point keeps its flag:
 * what is left of its segment begins with the next key frame.
 */
function withoutLostGops(track: Mp4Track, flags: Readonly<Uint8Array>): Mp4Track {
  const { unreadable = [] } = track.samples
  const lost: EntryRange[] = []
  let isLost = false
  flags.forEach((flag, at) => {
    const range = sampleRange(track, { from: at, to: at + 1 })
    const isKey = (flag & SPLIT_KEY_FRAME) !== 0
    if (isKey) isLost = countIn(unreadable, { from: range.from, to: range.from + 1 }) > 0
    if (isLost) lost.push(range)
  })
  if (lost.length === 0) return track
  return { ...track, samples: { ...track.samples, unreadable: joinRanges(unreadable, lost) } }
}

function joinRanges(some: readonly EntryRange[], others: readonly EntryRange[]): EntryRange[] {
  const joined: EntryRange[] = []
  for (const { from, to } of [...some, ...others].toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (last !== undefined && last.to >= from) last.to = Math.max(last.to, to)
    else joined.push({ from, to })
  }
  return joined
}

function readableSamples(track: Mp4Track, splitPoint: number): { all: number; readable: number } {
  const range = sampleRange(track, { from: splitPoint, to: splitPoint + 1 })
  const all = Math.max(range.to - range.from, 0)
  return { all, readable: all - countIn(track.samples.unreadable, range) }
}

/** How many samples of a range are in the ranges, which are in order. */
function countIn(ranges: readonly EntryRange[] = [], { from, to }: EntryRange): number {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ranges[middle]?.to ?? 0) > from) high = middle
    else low = middle + 1
  }
  let count = 0
  for (let at = low; at < ranges.length; at += 1) {
    const range = ranges[at]
    if (range === undefined || range.from >= to) break
    count += Math.min(range.to, to) - Math.max(range.from, from)
  }
  return count
}

/** Session time of the split point with the first unreadable sample. */
function firstSeconds(tracks: readonly Mp4Track[], { splitPoints }: MediaIndex): number {
  const at = splitPoints.flags.findIndex((_, splitPoint) =>
    tracks.some((track) => {
      const { all, readable } = readableSamples(track, splitPoint)
      return readable < all
    }),
  )
  return secondsFromTicks(splitPoints.startTicks[at] ?? 0, splitPoints.timescale)
}
