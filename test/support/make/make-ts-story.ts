// Writes MPEG-TS recordings from events: jumps, pauses, losses, other tables, audio or parameters.
import {
  AAC_STREAM,
  adtsFrames,
  AUDIO_PID,
  createTsMaker,
  H264_STREAM,
  h264Frame,
  VIDEO_PID,
} from './make-ts.ts'
import type { TsMaker } from './make-ts.ts'

const SECOND = 90_000

/** One event of a recording. */
export type TsEvent =
  | 'gop'
  | 'dense gop'
  | 'long gop'
  | 'b-frames'
  | 'back'
  | 'forward'
  | 'pause'
  | 'mid-gop jump'
  | 'wrong stamp'
  | 'audio only'
  | 'late audio'
  | 'video only'
  | 'recovery'
  | 'other parameters'
  | 'plain'
  | 'tables'
  | 'other tables'
  | 'other audio'
  | 'garbage'
  | 'loss'

export const TS_EVENTS: TsEvent[] = [
  ...(['gop', 'gop', 'gop', 'dense gop', 'long gop', 'b-frames', 'back', 'forward'] as const),
  ...(['pause', 'mid-gop jump', 'wrong stamp', 'audio only', 'video only'] as const),
  ...(['recovery', 'other parameters', 'plain', 'tables', 'other tables'] as const),
  ...(['other audio', 'late audio', 'garbage', 'loss'] as const),
]

const OTHER_AUDIO_PID = 0x105

/** Writes a recording from events; frames every 250 ms, interleaved with audio. */
export class TsStory {
  readonly packets: Uint8Array[] = []
  readonly maker: TsMaker = createTsMaker()
  clock: number
  audioPid = AUDIO_PID
  /** `radio`: the tables list only the audio; `languages`: they list a second audio track. */
  kind: 'video' | 'radio' | 'languages' = 'video'
  #version = 0

  constructor(startTicks: number) {
    this.clock = startTicks
  }

  tables(): void {
    const audio = { ...AAC_STREAM, pid: this.audioPid }
    const frames = this.kind === 'radio' ? [] : [H264_STREAM]
    const audioTracks = this.kind === 'languages' ? [audio, SECOND_AUDIO] : [audio]
    const streams = [...frames, ...(this.#version % 2 === 0 ? [] : [PRIVATE]), ...audioTracks]
    const version = { version: this.#version % 32 }
    this.packets.push(...this.maker.pat(), ...this.maker.pmt(streams, version))
  }

  frame(kind: Parameters<typeof h264Frame>[0] | undefined, audioTrack: 'audio' | 'no audio'): void {
    const pts = this.clock
    this.clock += SECOND / 4
    const stamps = { pts: pts + SECOND / 4, dts: pts }
    const frame = kind && this.maker.pes(VIDEO_PID, stamps, h264Frame(kind, 500))
    const audio =
      audioTrack === 'audio' ? this.maker.pes(this.audioPid, { pts }, adtsFrames(12, 40)) : []
    // A part of the audio is after the start of the next frame.
    this.packets.push(...audio.slice(0, 1), ...(frame ?? []).slice(0, 1), ...audio.slice(1))
    this.packets.push(...(frame ?? []).slice(1))
    if (this.kind === 'languages' && audioTrack === 'audio') {
      this.packets.push(...this.maker.pes(SECOND_AUDIO.pid, { pts }, adtsFrames(12, 30)))
    }
  }

  gop(kind: Parameters<typeof h264Frame>[0], frames: number): void {
    for (let i = 0; i < frames; i++) this.frame(i === 0 ? kind : 'plain', 'audio')
  }

  write(event: TsEvent): void {
    ACTIONS[event](this)
  }

  changeTables(): void {
    this.#version++
    this.tables()
  }
}

const SECOND_AUDIO = { type: 0x0f, pid: 0x106 }
const PRIVATE = { type: 0x81, pid: 0x110 }

const ACTIONS: Record<TsEvent, (story: TsStory) => void> = {
  gop: (story) => story.gop('key', 4),
  'dense gop': (story) => {
    for (let i = 0; i < 4; i++) story.gop('key', 2)
  },
  'long gop': (story) => story.gop('key', 60),
  'b-frames': (story) => {
    const start = story.clock
    for (const [i, shown] of [0, 3, 1, 2, 4, 7, 5, 6].entries()) {
      const dts = start + i * (SECOND / 4)
      const pts = start + (shown + 2) * (SECOND / 4)
      const frame = h264Frame(i === 0 ? 'key' : 'plain', 300)
      story.packets.push(...story.maker.pes(VIDEO_PID, { pts, dts }, frame))
      story.packets.push(...story.maker.pes(story.audioPid, { pts: dts }, adtsFrames(12, 30)))
    }
    story.clock = start + 2 * SECOND
  },
  back: (story) => {
    story.clock -= 100 * SECOND
    story.gop('key', 3)
  },
  forward: (story) => {
    story.clock += 3000 * SECOND
    story.gop('key', 3)
  },
  pause: (story) => {
    story.clock += 12 * SECOND
    story.gop('key', 4)
  },
  'mid-gop jump': (story) => {
    story.clock -= 500 * SECOND
    story.gop('plain', 3)
  },
  'wrong stamp': (story) => {
    const { clock } = story
    story.clock = clock + 77_777 * SECOND
    story.frame('plain', 'no audio')
    story.clock = clock
  },
  'audio only': (story) => {
    for (let i = 0; i < 100; i++) story.frame(undefined, 'audio')
  },
  'late audio': ({ packets, maker, clock, audioPid }) => {
    packets.push(...maker.pes(audioPid, { pts: clock - 3 * SECOND }, adtsFrames(12, 40)))
  },
  'video only': (story) => {
    for (let i = 0; i < 45; i++) story.frame(i % 5 === 0 ? 'key' : 'plain', 'no audio')
  },
  recovery: (story) => {
    for (let i = 0; i < 9; i++) story.gop('recovery', 4)
  },
  'other parameters': (story) => story.gop('other key', 4),
  plain: (story) => story.gop('plain', 2),
  tables: (story) => story.tables(),
  'other tables': (story) => story.changeTables(),
  'other audio': (story) => {
    story.audioPid = story.audioPid === AUDIO_PID ? OTHER_AUDIO_PID : AUDIO_PID
    story.tables()
  },
  garbage: ({ packets }) => packets.push(new Uint8Array(301).fill(0x47, 3, 100)),
  loss: ({ maker, packets }) => {
    maker.pes(VIDEO_PID, { pts: 0 }, h264Frame('plain', 300))
    const last = packets.pop()
    if (last !== undefined) packets.push(last.subarray(0, 90))
  },
}
