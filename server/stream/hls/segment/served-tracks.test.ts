import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { encodeAudio, makeMusic } from '../../../../test/support/make/make-audio.ts'
import { packetRecording } from '../../../../test/support/make/packet-recording.ts'
import { makeHlsRecording } from '../../../../test/support/make/make-hls-recording.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'
import { readReferencePackets } from '../../../../test/support/verify/reference-packets.ts'
import { createAudioTranscoder } from '../../../decode/audio/audio-transcoder.ts'
import { MAIN } from '../playlist/segment-names.ts'
import { planSegments } from '../playlist/segment-plan.ts'
import { patientDecoder } from '../../../../test/support/patience.ts'

const RATE = 48_000
const transcoder = createAudioTranscoder({ limits: patientDecoder })
const folder = makeTempFolder('audio')

afterAll(() => transcoder.close())

describe('a recording with transcoded audio', () => {
  it('has segments that FFmpeg reads without a gap', async () => {
    const recording = packetRecording(encodeAudio('ac3', makeMusic(14, RATE), RATE), {
      timescale: 90_000,
      output: { sampleRate: RATE, channels: 2 },
      splitPointSeconds: 2,
      lagSeconds: 0.5,
    })
    const hls = makeHlsRecording(recording, {
      plan: planSegments(recording.index.splitPoints, { segmentSeconds: 4 }),
      segmentSeconds: 4,
      transcoder,
    })
    expect(hls.form).toBe('fmp4')
    const address = { segmentNumber: 0, form: 'fmp4', rendition: MAIN } as const
    const parts = [await hls.init(address, recording.file)]
    for (const number of hls.plan.segments.keys()) {
      const body = await hls.mainSegment(number, recording.file)
      parts.push(
        ...(body?.parts ?? []).map((part) => (part.kind === 'bytes' ? part.bytes : undefined)),
      )
    }
    const path = join(folder, 'whole.mp4')
    await writeFile(path, Buffer.concat(parts.map((part) => part ?? Buffer.alloc(0))))
    const packets = await readReferencePackets(path)
    expect(packets.every(({ kind }) => kind === 'audio')).toBe(true)
    packets.forEach(({ ptsSeconds }, at) => {
      expect(ptsSeconds).toBeCloseTo((at * 1024) / RATE, 6)
    })
    const { endTicks, timescale } = recording.index.splitPoints
    expect(packets).toHaveLength(Math.ceil(((endTicks / timescale) * RATE) / 1024))
  })
})
