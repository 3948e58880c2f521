// Tells a movie in fragments from one that only announces them.
import type { FileWindow } from '../../mp4/boxes/file-window.ts'
import type { Movie } from '../../mp4/index/movie.ts'
import { FragmentWalk } from './fragment-walk.ts'

/** More samples than these are more than the first seconds of a recording that goes on in fragments. */
const MAX_FIRST_SAMPLES = 2 ** 16

/**
 * Whether samples lie in fragments, or are about to: where the movie lists few itself, the first fragment may only not
 * have been written yet.
 */
export async function hasFragments({ file, signal }: FileWindow, movie: Movie): Promise<boolean> {
  if (movie.fragmentDefaults === undefined) return false
  const samples = movie.tracks.reduce((sum, { tables }) => sum + tables.sampleCount, 0)
  if (samples <= MAX_FIRST_SAMPLES) return true
  const walk = new FragmentWalk(file, { from: movie.box.end, to: file.stat.sizeBytes, signal })
  for (let item = walk.next(); item !== undefined; item = walk.next()) {
    if (item === 'more') await walk.load()
    else if (item.kind === 'moof') return true
  }
  return false
}
