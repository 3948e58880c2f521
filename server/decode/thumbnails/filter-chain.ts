// A chain of FFmpeg's filters. Runs only in the child process.
import { FFmpegError, Filter } from 'node-av/lib'
import type { FilterContext, FilterGraph } from 'node-av/lib'
import type { ImageShape } from './fit-image.ts'

export type FilterStep = [filter: string, args: string]

/** Filters that turn an image upright. */
export const TRANSPOSE: Record<ImageShape['rotationDegrees'], FilterStep[]> = {
  0: [],
  90: [['transpose', 'dir=clock']],
  180: [
    ['hflip', ''],
    ['vflip', ''],
  ],
  270: [['transpose', 'dir=cclock']],
}

/** Creates and links the filters; returns the first and the last. */
export function buildChain(
  graph: FilterGraph,
  steps: readonly FilterStep[],
): [FilterContext, FilterContext] {
  const contexts = steps.map(([name, args], position) => {
    const filter = Filter.getByName(name)
    const context = filter && graph.createFilter(filter, `${name}${position}`, args || null)
    if (context === null) throw new Error(`the filter ${name} cannot be made`)
    return context
  })
  contexts.reduce((previous, next) => {
    FFmpegError.throwIfError(previous.link(0, next, 0), 'link filters')
    return next
  })
  const [first, last] = [contexts.at(0), contexts.at(-1)]
  if (first === undefined || last === undefined) throw new Error('no filters')
  return [first, last]
}
