import { describe, expect, it } from 'vitest'
import { fileURLToPath } from 'node:url'
import { demux } from '../../../test/demux/demux.ts'
import {
  encodeVideo,
  isParameterSet,
  lengthPrefixed,
} from '../../../test/support/make/encode-video.ts'
import {
  createSetsScan,
  finishSets,
  missingSets,
  prefixOf,
  recordedSets,
  replaceSets,
  sampleSets,
  setsAt,
  takeFrameSets,
} from './parameter-sets.ts'

const AV1 = fileURLToPath(
  new URL('../../../test/fixtures/media/mp4-av1-10bit-aac-portrait.mp4', import.meta.url),
)

describe('parameter sets', () => {
  it.each(['h264', 'hevc'] as const)('of %s are found in samples, by kind and id', (codec) => {
    const [first] = encodeVideo({ codec, frames: 1, gop: 1 })
    const params = codec === 'h264' ? 'cabac=1:level=4.0' : 'amp=1:rect=1'
    const [other] = encodeVideo({ codec, frames: 1, gop: 1, params })
    if (first === undefined || other === undefined) throw new Error('nothing was encoded')
    const sets = sampleSets(codec, lengthPrefixed(first), 4)
    expect(sets.map((set) => Buffer.from(set))).toEqual(
      first.nals.filter((nal) => isParameterSet(codec, nal)),
    )
    expect(Buffer.from(prefixOf(sets, 4))).toEqual(
      lengthPrefixed({ ...first, nals: sets.map((set) => Buffer.from(set)) }),
    )
    const later = sampleSets(codec, lengthPrefixed(other), 4)
    expect(replaceSets(codec, sets, later)).toEqual(later)
    expect(missingSets(codec, later, { recorded: sets, own: [] }).length).toBeGreaterThan(0)
    expect(missingSets(codec, later, { recorded: [], own: sets })).toEqual([])
    expect(missingSets(codec, later, { recorded: later, own: [] })).toEqual([])
  })

  it('ignores samples that are truncated or not NAL units', () => {
    for (const bytes of [[], [0], [0, 0, 0, 9, 0x67], [0xff, 0xff, 0xff, 0xff, 7, 8], [0, 0, 0, 0]])
      for (const codec of ['h264', 'hevc', 'av1'] as const)
        expect(sampleSets(codec, Uint8Array.from(bytes), 4)).toEqual([])
    for (const codec of ['h264', 'hevc', 'av1'] as const)
      expect(recordedSets(codec, Uint8Array.of(1, 2, 3)).sets).toEqual([])
  })

  it('are the sequence header in AV1, which a segment gets if its key frame has none', async () => {
    const { tracks, packets } = await demux(AV1)
    const track = tracks.findIndex(({ kind }) => kind === 'video')
    const config = tracks[track]?.extradata ?? new Uint8Array(0)
    const frame = packets.find((packet) => packet.track === track && packet.isKey)?.data
    const own = sampleSets('av1', frame ?? new Uint8Array(0), 0)
    expect(own.length).toBe(1)
    const boxed = Buffer.concat([config.subarray(0, 4), ...own])
    expect(recordedSets('av1', boxed).sets.map((set) => Buffer.from(set))).toEqual(
      own.map((set) => Buffer.from(set)),
    )
    const scan = createSetsScan()
    const recorded = recordedSets('av1', config.subarray(0, 4)).sets
    takeFrameSets(scan, { codec: 'av1', recorded, own }, 0)
    takeFrameSets(scan, { codec: 'av1', recorded, own: [] }, 1)
    takeFrameSets(scan, { codec: 'av1', recorded, own }, 2)
    const sets = finishSets(scan)
    expect([0, 1, 2, 3].map((splitPoint) => setsAt(sets, splitPoint))).toEqual([[], own, [], []])
  })
})
