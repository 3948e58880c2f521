import { expect, test, vi } from 'vitest'
import { bytesFile } from '../../../../test/support/bytes-file.ts'
import { makeHlsRecording } from '../../../../test/support/make/make-hls-recording.ts'
import { plainSession, RECORDERS } from '../../../../test/support/make/make-recording.ts'
import { patienceMs } from '../../../../test/support/patience.ts'
import { AppError } from '../../../base/errors.ts'
import { createMediaReaders } from '../../../media/readers.ts'
import { planSegments } from '../playlist/segment-plan.ts'
import { hasQuality, sessionQualities } from './session-qualities.ts'

/** MPEG-TS with a key frame per second; `keySeconds` changes what the index says of them. */
async function recordingOf(keySeconds = 1) {
  const file = bytesFile(Buffer.concat(RECORDERS['MPEG-TS'](plainSession(10))))
  const reader = await createMediaReaders().forFile(file)
  const found = await reader.index(file, AbortSignal.timeout(patienceMs))
  const startTicks = found.splitPoints.startTicks.map((ticks) => ticks * keySeconds)
  const endTicks = found.splitPoints.endTicks * keySeconds
  const index = { ...found, splitPoints: { ...found.splitPoints, startTicks, endTicks } }
  const plan = planSegments(index.splitPoints, { segmentSeconds: 4 })
  return makeHlsRecording({ file, index, reader }, { plan, segmentSeconds: 4 })
}

test('offers pictures up to six seconds apart', async () => {
  const [near, far] = [await recordingOf(6), await recordingOf(6.1)]
  expect([[near], [far], [near, far]].map((parts) => hasQuality(parts, 'saver'))).toEqual([
    true,
    false,
    false,
  ])
  expect(hasQuality([near, far], 'audio')).toBe(true)
})

test.each([
  ['cannot be read', async () => Promise.reject(new AppError('failed', 'no'))],
  ['was not read', async () => undefined],
  ['is not read in time', async () => new Promise<undefined>(() => undefined)],
])('estimates the bit rate of a segment that %s', async (_, measure) => {
  const recording = await recordingOf()
  vi.useFakeTimers()
  try {
    const listed = sessionQualities([recording], { measure, canEncode: async () => true })
    await vi.advanceTimersByTimeAsync(1000)
    expect((await listed).map(({ id, bandwidth }) => [id, bandwidth])).toEqual([
      ['original', 6_000_000],
      ['saver', 800_000],
      ['audio', 130_000],
    ])
  } finally {
    vi.useRealTimers()
  }
})
