// Key and IV of each segment that one recording can have.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { bytesFile } from '../../../../test/support/bytes-file.ts'
import { makeEncodedTs } from '../../../../test/support/make/make-encoded-ts.ts'
import type { EncodedTs } from '../../../../test/support/make/make-encoded-ts.ts'
import { makeHlsRecording } from '../../../../test/support/make/make-hls-recording.ts'
import type { IndexedRecording } from '../../../../test/support/make/make-hls-recording.ts'
import { plainSession, RECORDERS } from '../../../../test/support/make/make-recording.ts'
import { packetRecording } from '../../../../test/support/make/packet-recording.ts'
import { patienceMs, patientDecoder } from '../../../../test/support/patience.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'
import { createAudioTranscoder } from '../../../decode/audio/audio-transcoder.ts'
import { segmentIv } from '../../delivery/encryption.ts'
import { readWholeBody } from '../../delivery/read-body.ts'
import { createMediaReaders } from '../../../media/readers.ts'
import { planSegments } from '../playlist/segment-plan.ts'
import { MAIN, renditionNumber } from '../playlist/segment-names.ts'
import type { PlayedRendition } from '../playlist/segment-names.ts'
import type { HlsRecording } from './hls-recording.ts'

/** A recording of ten seconds in MPEG-TS: as it is, and converted to fMP4. */
async function indexSession(): Promise<IndexedRecording[]> {
  const file = bytesFile(Buffer.concat(RECORDERS['MPEG-TS'](plainSession(10))))
  const reader = await createMediaReaders().forFile(file)
  const index = await reader.index(file, AbortSignal.timeout(patienceMs))
  const converted = reader.asSamples?.(index)
  return [index, ...(converted ? [converted] : [])].map((each) => ({ file, index: each, reader }))
}

function encrypted(recording: IndexedRecording, segmentSeconds: number): HlsRecording {
  const plan = planSegments(recording.index.splitPoints, { segmentSeconds })
  return makeHlsRecording(recording, { plan, segmentSeconds, encryption: 'aes-128' })
}

const PLAYED: readonly PlayedRendition[] = [
  MAIN,
  { kind: 'audio', number: 0 },
  { kind: 'saver', number: 0 },
]

/** Key and IV of each segment of all qualities, and a hash of its bytes. */
async function readSegments(
  recording: IndexedRecording,
  hls: HlsRecording,
): Promise<{ pair: string; content: string }[]> {
  const addresses = PLAYED.flatMap((rendition) =>
    hls.planOf(rendition).segments.map((_, number) => ({ rendition, number })),
  )
  return Promise.all(
    addresses.map(async ({ rendition, number }) => {
      const body = await hls.segment({ rendition, number }, recording.file)
      if (body === undefined || hls.key === undefined) throw new Error('there is no such segment')
      const bytes = await readWholeBody(recording.file, body)
      const iv = segmentIv({ number, rendition: renditionNumber(rendition) })
      return {
        pair: Buffer.concat([hls.key, iv]).toString('hex'),
        content: createHash('sha256').update(bytes).digest('hex'),
      }
    }),
  )
}

test('no IV is used twice under one key, whatever the settings and the container are', async () => {
  const contents = new Map<string, string>()
  const forms = new Set<string>()
  for (const recording of await indexSession()) {
    for (const segmentSeconds of [1, 2, 4]) {
      const hls = encrypted(recording, segmentSeconds)
      forms.add(hls.form)
      for (const { pair, content } of await readSegments(recording, hls)) {
        expect(contents.get(pair) ?? content).toBe(content)
        contents.set(pair, content)
      }
    }
  }
  expect(forms).toEqual(new Set(['ts', 'fmp4']))
  expect(contents.size).toBeGreaterThan(60)
})

function ac3Recording(): IndexedRecording {
  return packetRecording(
    {
      format: { codec: 'ac3', channels: 2, sampleRate: 48_000 },
      packets: [{ data: Buffer.alloc(8), position: 0 }],
    },
    { timescale: 90_000, output: { sampleRate: 48_000, channels: 2 }, splitPointSeconds: 2 },
  )
}

const H264 = { seconds: 1, video: { encoder: 'libx264' } } as const

async function encodedRecording(made: EncodedTs): Promise<IndexedRecording> {
  const path = join(makeTempFolder('silent'), 'recording.ts')
  await makeEncodedTs(path, made)
  const file = bytesFile(await readFile(path))
  const reader = await createMediaReaders().forFile(file)
  return { file, reader, index: await reader.index(file, AbortSignal.timeout(patienceMs)) }
}

test.each([
  ['in all of it', ac3Recording],
  [
    'in its second audio track',
    async () =>
      encodedRecording({
        ...H264,
        audioTracks: [
          { encoder: 'aac', channels: 2 },
          { encoder: 'ac3', channels: 2 },
        ],
      }),
  ],
  [
    'in qualities of fMP4',
    async () =>
      encodedRecording({ ...H264, audioTracks: [{ encoder: 'libmp3lame', channels: 2 }] }),
  ],
])('audio that is silent without a decoder has a key of its own: %s', async (_, make) => {
  const recording = await make()
  const plan = planSegments(recording.index.splitPoints, { segmentSeconds: 4 })
  const transcoder = createAudioTranscoder({ limits: patientDecoder })
  const [silent, transcoded, again] = [undefined, transcoder, transcoder].map((each) =>
    makeHlsRecording(recording, {
      plan,
      segmentSeconds: 4,
      transcoder: each,
      encryption: 'aes-128',
    }),
  )
  transcoder.close()
  expect(silent?.key).not.toEqual(transcoded?.key)
  expect(again?.key).toEqual(transcoded?.key)
})

test('an index of another format has other URLs and another key', async () => {
  const [recording] = await indexSession()
  if (recording === undefined) throw new Error('there is no recording')
  const hls = encrypted(recording, 4)
  vi.doMock('../../../media/index/index-files.ts', async (original) => ({
    ...(await original<object>()),
    INDEX_FORMAT: 'that of a later release',
  }))
  vi.resetModules()
  const later = await import('../../../../test/support/make/make-hls-recording.ts')
  vi.doUnmock('../../../media/index/index-files.ts')
  const options = { plan: hls.plan, segmentSeconds: 4, encryption: 'aes-128' } as const
  const upgraded = later.makeHlsRecording(recording, options)
  expect(upgraded.urlVersion).not.toBe(hls.urlVersion)
  expect(upgraded.key).not.toEqual(hls.key)
})
