// Which tracks of an index a segment or init segment contains.
import type { MediaIndex } from '../media-index.ts'

/** Positions of the requested tracks; by default the video and the first audio track. */
export function servedTracks(
  { tracks }: MediaIndex,
  wanted: readonly number[] | undefined,
): readonly number[] {
  if (wanted !== undefined) return wanted
  const firsts = [
    tracks.findIndex(({ kind }) => kind === 'video'),
    tracks.findIndex(({ kind }) => kind === 'audio'),
  ]
  return firsts.filter((at) => at >= 0)
}
