// A chain of FFmpeg's filters. Runs only in the child process.
import { AV_BUFFERSRC_FLAG_KEEP_REF } from 'node-av/constants'
import { FFmpegError, Filter, Frame } from 'node-av/lib'
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

/** The first and the last filter of a chain. */
export type FilterEnds = [source: FilterContext, sink: FilterContext]

/** Creates and links the filters. */
export function buildChain(graph: FilterGraph, steps: readonly FilterStep[]): FilterEnds {
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
  FFmpegError.throwIfError(graph.configSync(), 'scale')
  return [first, last]
}

/** A new frame, which the caller disposes of. */
export function runChain([source, sink]: FilterEnds, frame: Frame): Frame {
  FFmpegError.throwIfError(source.buffersrcAddFrameSync(frame, AV_BUFFERSRC_FLAG_KEEP_REF), 'scale')
  const filtered = new Frame()
  filtered.alloc()
  FFmpegError.throwIfError(sink.buffersinkGetFrameSync(filtered), 'scale')
  return filtered
}
