// Stands for the transmuxer of hls.js in the page, which needs one only where a worker cannot
// start: loads it then. The build gives it to hls.js (scripts/hls-from-source.ts).
import type Transmuxer from 'hls.js/src/demux/transmuxer.ts?copy'

/** The same calls; the results come later. */
// oxlint-disable-next-line import/no-default-export -- hls.js imports the default.
export default class LateTransmuxer {
  readonly #transmuxer: Promise<Transmuxer>

  constructor(...options: ConstructorParameters<typeof Transmuxer>) {
    this.#transmuxer = import('hls.js/src/demux/transmuxer.ts?copy').then(
      (module) => new module.default(...options),
    )
  }

  configure(config: TransmuxConfig): void {
    this.#call((transmuxer) => transmuxer.configure(config))
  }

  async push(...segment: Parameters<Transmuxer['push']>): Promise<unknown> {
    const transmuxer = await this.#transmuxer
    return transmuxer.push(...segment)
  }

  async flush(chunk: unknown): Promise<unknown> {
    const transmuxer = await this.#transmuxer
    return transmuxer.flush(chunk)
  }

  destroy(): void {
    this.#call((transmuxer) => transmuxer.destroy())
  }

  /** If it cannot be loaded, `push` and `flush` say so. */
  #call(run: (transmuxer: Transmuxer) => void): void {
    this.#transmuxer.then(run).catch(() => undefined)
  }
}

/** What hls.js passes to `configure`, here or in the worker. */
export class TransmuxConfig {
  readonly audioCodec: unknown
  readonly videoCodec: unknown
  readonly initSegmentData: unknown
  readonly duration: unknown
  readonly defaultInitPts: unknown

  constructor(...fields: [unknown, unknown, unknown, unknown, unknown]) {
    const [audio, video, init, duration, pts] = fields
    this.audioCodec = audio
    this.videoCodec = video
    this.initSegmentData = init
    this.duration = duration
    this.defaultInitPts = pts ?? null
  }
}

/** What hls.js passes to `push`, here or in the worker. */
export class TransmuxState {
  readonly discontinuity: boolean
  readonly contiguous: boolean
  readonly accurateTimeOffset: boolean
  readonly trackSwitch: boolean
  readonly timeOffset: number
  readonly initSegmentChange: boolean

  constructor(...fields: [boolean, boolean, boolean, boolean, number, boolean]) {
    const [discontinuity, contiguous, accurate, trackSwitch, timeOffset, initSegmentChange] = fields
    this.discontinuity = discontinuity
    this.contiguous = contiguous
    this.accurateTimeOffset = accurate
    this.trackSwitch = trackSwitch
    this.timeOffset = timeOffset
    this.initSegmentChange = initSegmentChange
  }
}

/** Results are promises where the transmuxer is late. */
export function isPromise(result: unknown): result is Promise<unknown> {
  return result instanceof Promise
}
