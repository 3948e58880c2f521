// Scales decoded video, turns it upright and converts it to 8-bit 4:2:0. Runs in the child process.
import type { AVColorSpace } from 'node-av/constants'
import { FilterGraph } from 'node-av/lib'
import type { Frame } from 'node-av/lib'
import { buildChain, runChain, TRANSPOSE } from '../thumbnails/filter-chain.ts'
import type { FilterEnds } from '../thumbnails/filter-chain.ts'
import type { EncodedFormat, RecordedVideo } from './video-job.ts'

/** The scaler's other code depends on the processor. */
const EXACT = 'bilinear+accurate_rnd+bitexact'

interface Chain {
  /** Properties of the frames that it scales. */
  input: string
  graph: FilterGraph
  ends: FilterEnds
}

/** Frames of any size to one format. The caller disposes of it. */
export class VideoScaler implements Disposable {
  readonly #format: EncodedFormat
  readonly #rotation: RecordedVideo['rotationDegrees']
  #chain: Chain | undefined

  constructor(format: EncodedFormat, rotation: RecordedVideo['rotationDegrees']) {
    this.#format = format
    this.#rotation = rotation
  }

  /** A new frame, which the caller disposes of. */
  scale(frame: Frame): Frame {
    // The matrix of the format is that of the video, where the bitstream has one.
    frame.colorSpace = this.#format.matrix as AVColorSpace
    return runChain(this.#chainFor(frame).ends, frame)
  }

  [Symbol.dispose](): void {
    this.#chain?.graph[Symbol.dispose]()
    this.#chain = undefined
  }

  #chainFor({ width, height, format, colorSpace, colorRange }: Frame): Chain {
    const size = `video_size=${width}x${height}:pix_fmt=${format}`
    const input = `${size}:time_base=1/1:colorspace=${colorSpace}:range=${colorRange}`
    if (this.#chain?.input === input) return this.#chain
    this[Symbol.dispose]()
    const graph = new FilterGraph()
    graph.alloc()
    graph.nbThreads = 1
    const colour = `out_range=limited:out_color_matrix=${this.#format.matrix}`
    const ends = buildChain(graph, [
      ['buffer', input],
      ['scale', `${this.#scaledSize()}:flags=${EXACT}:${colour}`],
      ['setsar', 'sar=1'],
      ...TRANSPOSE[this.#rotation],
      ['format', 'pix_fmts=yuv420p'],
      ['buffersink', ''],
    ])
    this.#chain = { input, graph, ends }
    return this.#chain
  }

  /** Before the rotation. */
  #scaledSize(): string {
    const { width, height } = this.#format
    return this.#rotation % 180 === 0 ? `w=${width}:h=${height}` : `w=${height}:h=${width}`
  }
}
