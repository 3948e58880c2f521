// Distinguishes a movie with fragments from one that only declares them.
import type { FileWindow } from '../../mp4/boxes/file-window.ts'
import type { Movie } from '../../mp4/index/movie.ts'
import { FragmentWalk } from './fragment-walk.ts'

/** More samples than this are not just the first seconds of a fragmented recording. */
const MAX_FIRST_SAMPLES = 2 ** 16

/**
 * Whether the samples are or will be in fragments: if the movie lists few itself, the first
 * fragment may not be written yet.
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
