import { describe, expect, it } from 'vitest'
import { watchCpu } from '../../../../test/support/cpu-time.ts'
import { divideAudio } from './audio-jobs.ts'
import type { RecordedAudio } from './audio-jobs.ts'

const RATE = 48_000
const frameAt = (seconds: number) => Math.floor((seconds * RATE) / 1024)

/** Packets of 10 bytes at the given seconds; the frames up to `untilSeconds`. */
function audioAt(seconds: readonly number[], untilSeconds: number): RecordedAudio {
  return {
    format: { codec: 'mp3', channels: 2, sampleRate: RATE },
    output: { sampleRate: RATE, channels: 2 },
    packets: {
      bytes: new Uint8Array(seconds.length * 10),
      sizes: new Uint32Array(seconds.length).fill(10),
      ticks: Float64Array.from(seconds, (time) => time * 1000),
      timescale: 1000,
    },
    leadInPackets: 0,
    end: 'joined',
    fromFrame: 0,
    toFrame: frameAt(untilSeconds),
  }
}

/** A packet each 20 ms, from one time to another. */
function packets(from: number, to: number): number[] {
  return Array.from({ length: Math.round((to - from) * 50) }, (_, at) => from + at / 50)
}

function framesOf(audio: RecordedAudio): number {
  return divideAudio(audio).reduce(
    (sum, chunk) =>
      sum + (chunk.kind === 'silence' ? chunk.frames : chunk.job.toFrame - chunk.job.fromFrame),
    0,
  )
}

describe('divideAudio', () => {
  it('makes one job of a segment with a usual duration', () => {
    const audio = audioAt(packets(0, 6), 5.9)
    const { format, output, packets: all, leadInPackets, end, fromFrame, toFrame } = audio
    const job = { format, output, packets: all, leadInPackets, end, fromFrame, toFrame }
    expect(divideAudio(audio)).toEqual([{ kind: 'job', job }])
  })

  it('divides a long segment into jobs of ten seconds, each with a second of lead-in', () => {
    const chunks = divideAudio(audioAt(packets(0, 35), 34.9))
    const jobs = chunks.flatMap((chunk) => (chunk.kind === 'job' ? [chunk.job] : []))
    expect(jobs.map(({ leadInPackets }) => leadInPackets)).toEqual([0, 50, 50, 50])
    expect(jobs.map(({ end }) => end)).toEqual(['joined', 'joined', 'joined', 'joined'])
    for (const [at, job] of jobs.entries()) {
      expect(job.fromFrame).toBe(jobs[at - 1]?.toFrame ?? 0)
      expect(job.packets.bytes).toHaveLength(job.packets.sizes.length * 10)
    }
    expect(framesOf(audioAt(packets(0, 35), 34.9))).toBe(frameAt(34.9))
  })

  it('uses the last second of a long lead-in', () => {
    const audio = audioAt(packets(0, 16), 15.9)
    const chunks = divideAudio({ ...audio, leadInPackets: 500, fromFrame: frameAt(10) - 4 })
    expect(chunks).toHaveLength(1)
    expect(chunks[0]).toMatchObject({ kind: 'job', job: { leadInPackets: 51 } })
  })

  it('does not encode a long gap', () => {
    const audio = audioAt([...packets(0, 5), ...packets(3600, 3605)], 3604.9)
    const chunks = divideAudio(audio)
    expect(chunks.map(({ kind }) => kind)).toEqual(['job', 'silence', 'job'])
    expect(framesOf(audio)).toBe(frameAt(3604.9))
    const encoded = chunks.flatMap((chunk) =>
      chunk.kind === 'job' ? [chunk.job.toFrame - chunk.job.fromFrame] : [],
    )
    expect(Math.max(...encoded)).toBeLessThan(frameAt(7))
  })

  it('adds silence before late audio, after early audio, and for missing audio', () => {
    const kinds = (seconds: number[]) => divideAudio(audioAt(seconds, 60)).map(({ kind }) => kind)
    expect(kinds(packets(50, 60))).toEqual(['job', 'silence', 'job'])
    expect(kinds(packets(0, 5))).toEqual(['job', 'silence'])
    expect(kinds([])).toEqual(['job', 'silence'])
    for (const seconds of [packets(50, 60), packets(0, 5), []])
      expect(framesOf(audioAt(seconds, 60))).toBe(frameAt(60))
  })

  it('makes each frame once from packets with equal times or times outside', () => {
    const wild = [...packets(0, 3), ...packets(0, 3).fill(1), 1e7, 5, -3, 5]
    expect(framesOf(audioAt(wild, 6))).toBe(frameAt(6))
  })

  it('takes no quadratic time for very many gaps', () => {
    const audio = audioAt(
      Array.from({ length: 20_000 }, (_, at) => at * 4),
      80_000,
    )
    const cpuMs = watchCpu()
    expect(framesOf(audio)).toBe(frameAt(80_000))
    expect(cpuMs()).toBeLessThan(500)
  })

  it('makes no chunk of a segment without frames', () => {
    expect(divideAudio(audioAt(packets(0, 1), 0))).toEqual([])
  })
})
