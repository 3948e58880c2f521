// Hostile bytes of each container: what parsers trust without a check costs much time or memory.
import fc from 'fast-check'
import {
  AAC,
  audioTag,
  avcConfig,
  flvFile,
  flvHeader,
  flvTag,
  frameTag,
  madeAudio,
  madeFrame,
  smallStream,
  videoConfigTag,
} from './make-flv.ts'
import type { FlvTag } from './make-flv.ts'
import * as fmp4 from './make-fmp4.ts'
import * as mkv from './make-mkv.ts'
import { box, fullBox, u32 } from './make-mp4.ts'

function many<Item>(count: number, make: (number: number) => Item): Item[] {
  return Array.from({ length: count }, (_, number) => make(number))
}

/** Whole files by what they consist of. */
export const HOSTILE_FILES: [string, Uint8Array][] = [
  ['FLV of zeros', Buffer.concat([flvHeader(), Buffer.alloc(20_000_000)])],
  [
    'FLV of what looks like tags everywhere',
    Buffer.concat([
      flvHeader(),
      Buffer.alloc(3_000_000, Buffer.from('0900000100000000000000', 'hex')),
    ]),
  ],
  ['file headers of FLV alone', Buffer.alloc(2_600_000, flvHeader())],
  [
    'the smallest tags of FLV',
    Buffer.concat([
      flvHeader(),
      Buffer.alloc(3_000_000, flvTag({ kind: 'audio', timeMs: 0, body: new Uint8Array() })),
    ]),
  ],
  [
    'FLV with alternating configurations',
    flvFile(many(20_000, (i) => videoConfigTag({ codec: 7 }, i, avcConfig(i & 0xff)))),
  ],
  [
    'FLV with clocks that jump with every tag',
    flvFile([
      videoConfigTag({ codec: 7 }, 0, avcConfig()),
      ...many(60_000, (i) =>
        frameTag({ codec: 7 }, { timeMs: (i % 2) * 1_000_000, isKey: true, data: madeFrame(i) }),
      ),
    ]),
  ],
  [
    'FLV with audio that jumps with every tag',
    flvFile([
      ...smallStream({ seconds: 1 }),
      ...many(60_000, (i) => audioTag(AAC, (i % 7) * 100_000, madeAudio(i))),
    ]),
  ],
  ...fmp4Bombs().map(([name, bytes]): [string, Uint8Array] => [
    `fragmented MP4 of ${name}`,
    Buffer.concat([fmp4.initSegment([fmp4.H264_TRACK, fmp4.AAC_TRACK]), bytes]),
  ]),
  ...mkvHeads().map(([name, head]): [string, Uint8Array] => [
    `Matroska with ${name}`,
    Buffer.concat([
      mkv.ebmlHead(),
      mkv.openElement(mkv.ID.segment),
      head,
      ...mkv.clusters(mkv.filmBlocks({ seconds: 4, reordered: 1, frameBytes: 60 })),
    ]),
  ]),
]

/** Bytes between the fragments of MP4. */
export function fmp4Bombs(): [string, Buffer][] {
  const tfhd = fullBox('tfhd', 0, u32(1))
  const mfhd = fullBox('mfhd', 0, u32(1))
  const moof = (...boxes: Uint8Array[]) => box('moof', mfhd, box('traf', ...boxes))
  return [
    ['2^32 samples of no size', moof(tfhd, fullBox('trun', 0, u32(0xffffffff)))],
    [
      '2^20 samples of 2 GiB',
      moof(box('tfhd', u32(0x20010, 1, 0x7fffffff)), fullBox('trun', 0, u32(2 ** 20))),
    ],
    [
      'samples before the start of the file',
      moof(box('tfhd', u32(0x20000, 1)), box('trun', u32(0x201, 1, 0x80000000, 8))),
    ],
    [
      'a base of 2^64',
      moof(box('tfhd', u32(1, 1, 0xffffffff, 0xffffffff)), box('trun', u32(0x201, 1, 0, 8))),
    ],
    [
      'a time of 2^64',
      moof(
        box('tfhd', u32(0x20000, 1)),
        fullBox('tfdt', 1, u32(0xffffffff, 0xffffffff)),
        box('trun', u32(0x205, 1, 8, 0, 8)),
      ),
    ],
    ['no tfhd', moof(fullBox('trun', 0, u32(1)))],
    ['a part larger than the whole', moof(box('tfhd', u32(0, 1)), u32(0x7fffffff, 0x7472756e))],
    ['a million empty boxes', Buffer.concat(many(1_000_000, () => box('free')))],
    ['a moof of nothing but trafs', box('moof', mfhd, ...many(20_000, () => box('traf', tfhd)))],
    ['zeros', Buffer.alloc(4_000_000)],
  ]
}

/** Elements between the clusters of Matroska. */
export function mkvBombs(): [string, Buffer][] {
  const { ID, claimedElement, element, openElement } = mkv
  // A SimpleBlock of the audio track.
  const laced = (flags: number, rest: number[]) =>
    element(ID.simpleBlock, Buffer.from([0x82, 0, 0, flags, ...rest]))
  return [
    ['a block larger than anything', claimedElement(ID.simpleBlock, 2 ** 50)],
    ['a cluster larger than anything', claimedElement(ID.cluster, 2 ** 55)],
    ['tracks larger than anything', claimedElement(ID.tracks, 2 ** 50)],
    ['an unknown element larger than anything', claimedElement(0x4fee, 2 ** 53)],
    ['cues larger than anything', claimedElement(ID.cues, 2 ** 50)],
    ['a block group of unknown size', openElement(ID.blockGroup)],
    ['an empty block', element(ID.simpleBlock)],
    ['a block of only a header', element(ID.simpleBlock, Buffer.from([0x81, 0, 0, 0x80]))],
    ['a lace of more frames than bytes', laced(0x86, [255, 1, 2])],
    ['a lace of negative sizes', laced(0x86, [2, 0x81, 0x80, 9, 9, 9])],
    [
      'a lace without an end',
      laced(
        0x82,
        many(5000, () => 255),
      ),
    ],
    ['a fixed lace that does not divide', laced(0x84, [2, 1, 2, 3, 4])],
    ['a time beyond all years', mkv.uint(ID.timestamp, 2 ** 52)],
    ['a time of nine bytes', element(ID.timestamp, Buffer.alloc(9, 0xff))],
    ['zeros', Buffer.alloc(100_000)],
    ['ones', Buffer.alloc(100_000, 0xff)],
    ['marks of clusters that are none', Buffer.from('1f43b675'.repeat(20_000), 'hex')],
  ]
}

function mkvHeads(): [string, Buffer][] {
  const { ID, AAC_TRACK, H264_TRACK, SRT_TRACK, element, tracks, uint } = mkv
  const nested = tracks(H264_TRACK, AAC_TRACK, SRT_TRACK)
  return [
    ['a scale of 0', element(ID.info, uint(ID.timestampScale, 0))],
    ['a scale of years', element(ID.info, uint(ID.timestampScale, 2 ** 50))],
    ['tracks inside of tracks', tracks({ ...H264_TRACK, codecPrivate: nested })],
    ['audio with a rate of 0', tracks({ ...AAC_TRACK, codec: 'A_AC3', sampleRate: 0 })],
    ['audio with an infinite rate', tracks({ ...AAC_TRACK, codec: 'A_AC3', sampleRate: Infinity })],
    ['video of size 0', tracks({ ...H264_TRACK, width: 0 })],
    ['thousands of tracks', tracks(...many(3000, () => SRT_TRACK))],
  ]
}

/** Tags of FLV that are almost valid. */
export const strangeTag = fc
  .record<FlvTag>(
    {
      kind: fc.constantFrom('audio', 'video', 'video', 'script'),
      timeMs: fc.oneof(
        fc.integer({ min: 0, max: 20_000 }),
        fc.constantFrom(0, 2 ** 24 - 1, 2 ** 24, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1),
      ),
      body: strangeBody(),
      trailer: fc.constantFrom<number | 'none'>(0, 11, 'none'),
      isEncrypted: fc.boolean(),
    },
    { requiredKeys: ['kind', 'timeMs', 'body'] },
  )
  .map(flvTag)

function strangeBody(): fc.Arbitrary<Uint8Array> {
  const firsts = Buffer.from('1727571c2c90919396 97a1af2f959fb23e'.replace(' ', ''), 'hex')
  const codes = ['', ...'avc1 hvc1 av01 vp09 Opus fLaC ac-3 ec-3 .mp3 mp4a'.split(' ')]
  const headed = fc
    .tuple(
      fc.constantFrom(...firsts),
      fc.constantFrom(0, 1, 2, 0x10, 0x21, 0xff),
      fc.constantFrom(...codes),
      fc.uint8Array({ maxLength: 60 }),
    )
    .map(([first, second, code, rest]) =>
      Buffer.concat([Uint8Array.of(first, second), Buffer.from(code), rest]),
    )
  const configs = [avcConfig(), avcConfig(0x20)].map((config) =>
    videoConfigTag({ codec: 7 }, 0, config),
  )
  const frames = [true, false].map((isKey) =>
    frameTag({ codec: 7 }, { timeMs: 0, isKey, data: madeFrame(1) }),
  )
  const real = fc.constantFrom(
    ...configs.map(({ body }) => body),
    ...frames.map(({ body }) => body),
  )
  return fc.oneof(fc.uint8Array({ maxLength: 40 }), headed, real)
}

/** Fragments at any time. */
export const strangeFragment = fc
  .record({
    decodeTicks: fc.oneof(
      fc.nat(10_000_000),
      fc.nat(2 ** 31 - 1),
      fc.constantFrom(2 ** 52, 2 ** 63, 0),
    ),
    count: fc.integer({ min: 1, max: 5 }),
    trackId: fc.constantFrom(1, 2),
  })
  .map(({ count, ...traf }) => {
    const samples = fmp4.plainSamples(count, { duration: 90_000, keyEvery: 2, seed: 's' })
    return fmp4.fragment([{ ...traf, samples }])
  })

/** Elements of Matroska in any order and nesting. */
export const strangeElement: fc.Arbitrary<Uint8Array> = strangeElements()

function strangeElements(): fc.Arbitrary<Uint8Array> {
  const anyId = fc.constantFrom(...Object.values(mkv.ID), 0x81, 0x4fee)
  const leaf = fc
    .tuple(anyId, fc.uint8Array({ maxLength: 40 }))
    .map(([id, content]) => mkv.element(id, content))
  const claimed = fc
    .tuple(anyId, fc.integer({ min: 0, max: 2 ** 40 }))
    .map(([id, bytes]) => mkv.claimedElement(id, bytes))
  const open = anyId.map((id) => mkv.openElement(id))
  const real = fc.constantFrom(mkv.tracks(mkv.H264_TRACK, mkv.AAC_TRACK), mkv.info())
  const part = fc.oneof(leaf, real, claimed, open, fc.uint8Array({ maxLength: 60 }))
  const nested = fc
    .tuple(anyId, fc.array(part, { maxLength: 4 }))
    .map(([id, parts]) => mkv.element(id, ...parts))
  return fc.oneof(part, nested)
}
