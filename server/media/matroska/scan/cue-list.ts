// Collects the subtitle cues of a recording on the session timeline, up to a limit.
import type { SubtitleCue, SubtitleTrack } from '../../media-index.ts'
import { cueText } from './cue-text.ts'
import { MAX_CUES, MAX_CUE_CHARACTERS } from '../matroska-limits.ts'
import {
  CLOCK_RATE,
  type PendingCue,
  type ScanMemory,
  type SubtitleStream,
} from '../matroska-source.ts'

/** Duration of a cue without its own. */
const DEFAULT_CUE_TICKS = 5 * CLOCK_RATE

/** A subtitle block. Times are ticks of CLOCK_RATE on the section's clock. */
export interface SubtitleBlock {
  stream: SubtitleStream
  /** Position of the subtitle track. */
  track: number
  payload: Uint8Array
  startTicks: number
  /** 0 if not declared. */
  durationTicks: number
  /** Position of the section on the session timeline, once it is final. */
  shiftTicks?: number
}

export class CueList {
  readonly #memory: Pick<ScanMemory, 'pendingCues' | 'settledCues' | 'cueCount' | 'cueCharacters'>
  readonly #settled: SubtitleCue[][]

  /** Resumes from the final cues of an index. */
  constructor(memory: Omit<ScanMemory, 'walkState'>, subtitles: readonly SubtitleTrack[] = []) {
    this.#memory = memory
    this.#settled = subtitles.map(({ cues }, i) => cues.slice(0, memory.settledCues[i] ?? 0))
  }

  add({ stream, track, payload, startTicks, durationTicks, shiftTicks }: SubtitleBlock): void {
    const memory = this.#memory
    const shown = cueText(stream, payload)
    if (shown === '' || memory.cueCount >= MAX_CUES) return
    if (memory.cueCharacters + shown.length > MAX_CUE_CHARACTERS) return
    memory.cueCount += 1
    memory.cueCharacters += shown.length
    const endTicks = startTicks + (durationTicks || DEFAULT_CUE_TICKS)
    const cue = { track, startTicks, endTicks, text: shown }
    if (shiftTicks === undefined) memory.pendingCues.push(cue)
    else this.#list(track).push(placed(cue, shiftTicks))
  }

  /** Makes the pending cues final. */
  settle(shiftTicks: number): void {
    for (const cue of this.#memory.pendingCues) {
      this.#list(cue.track).push(placed(cue, shiftTicks))
    }
    this.#memory.pendingCues = []
  }

  /** All subtitle tracks with their cues, the pending ones shifted by `shiftTicks`. */
  tracks(streams: readonly SubtitleStream[], shiftTicks: number): SubtitleTrack[] {
    const tracks = streams.map(({ language, name, isDefault }, i): SubtitleTrack => {
      const settled = this.#list(i).toSorted(byStart)
      const pending = this.#memory.pendingCues.filter(({ track }) => track === i)
      return {
        ...(language !== undefined && { language }),
        ...(name !== undefined && { name }),
        isDefault,
        cues: [...settled, ...pending.map((cue) => placed(cue, shiftTicks)).toSorted(byStart)],
      }
    })
    this.#memory.settledCues = streams.map((_, i) => this.#list(i).length)
    return tracks
  }

  #list(track: number): SubtitleCue[] {
    while (this.#settled.length <= track) this.#settled.push([])
    return this.#settled[track] ?? []
  }
}

function placed({ startTicks, endTicks, text }: PendingCue, shiftTicks: number): SubtitleCue {
  const startSeconds = Math.max(0, startTicks - shiftTicks) / CLOCK_RATE
  return {
    startSeconds,
    endSeconds: Math.max(startSeconds + 0.001, (endTicks - shiftTicks) / CLOCK_RATE),
    text,
  }
}

function byStart(one: SubtitleCue, other: SubtitleCue): number {
  return one.startSeconds - other.startSeconds
}
