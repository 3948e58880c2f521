// Tells a movie in fragments from one that only announces them.
import type { FileWindow } from '../mp4/file-window.ts'
import type { Movie } from '../mp4/movie.ts'
import { FragmentWalk } from './fragment-walk.ts'

/** Whether samples lie in fragments: where the movie lists none itself they must, also when none has been written yet. */
export async function hasFragments({ file, signal }: FileWindow, movie: Movie): Promise<boolean> {
  if (movie.tracks.every(({ tables }) => tables.sampleCount === 0)) return true
  const walk = new FragmentWalk(file, { from: movie.box.end, to: file.stat.sizeBytes, signal })
  for (let item = walk.next(); item !== undefined; item = walk.next()) {
    if (item === 'more') await walk.load()
    else if (item.kind === 'moof') return true
  }
  return false
}
