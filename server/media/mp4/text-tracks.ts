// Text tracks of a movie: all their cues, read at once.
import type { TextTrack } from '../media-index.ts'
import type { FileWindow } from './file-window.ts'
import type { Movie } from './movie.ts'

/** Placeholder */
export async function readTextTracks(
  _window: FileWindow,
  _movie: Movie,
  _startSeconds: number,
): Promise<TextTrack[]> {
  return Promise.resolve([])
}
