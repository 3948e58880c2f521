// Which tracks of an index a segment or init holds.
import type { MediaIndex } from '../media-index.ts'

/** Numbers of the tracks asked for; where none are named, the video and the first sound. */
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
