import { beforeAll, expect, test } from 'vitest'
import { fixturePath } from '../../../test/support/temp-library.ts'
import type { Inspection } from '../../media/index/inspect-recording.ts'
import { inspectRecording } from '../../media/index/inspect-recording.ts'
import { MAX_LIMITATIONS } from '../../media/media-index.ts'
import type { MediaIndex, RecordingLimitation } from '../../media/media-index.ts'
import { createMediaReaders } from '../../media/readers.ts'
import { createFolderStorage } from '../../storage/folder-storage.ts'
import { joinInspections } from './session-inspection.ts'

let index: MediaIndex

beforeAll(async () => {
  const { inspection } = await inspectRecording('ts-h264-pts-wrap-33bit.ts', {
    storage: createFolderStorage(fixturePath('')),
    readers: createMediaReaders(),
    signal: new AbortController().signal,
  })
  if (inspection.status === 'playable') ({ index } = inspection)
})

/** The same recording with another duration and other limitations. */
function playable(seconds: number, limitations: RecordingLimitation[] = []): Inspection {
  const splitPoints = { ...index.splitPoints, endTicks: seconds * index.splitPoints.timescale }
  return { status: 'playable', identity: '', index: { ...index, splitPoints, limitations } }
}

const truncated: RecordingLimitation = { kind: 'cut-off', message: 'it ends', offsetBytes: 9 }
const gap: RecordingLimitation = { kind: 'gap', message: 'it jumps', offsetBytes: 5, seconds: 2 }
const broken: Inspection = {
  status: 'unplayable',
  reason: 'no index',
  details: { offsetBytes: 7, advice: 'index it' },
}

test('a single recording has the limitations of its index; it is truncated at its end', () => {
  expect(joinInspections([{ name: '', inspection: playable(5, [gap, truncated]) }])).toEqual({
    status: 'playable',
    durationSeconds: 5,
    limitations: [gap, { ...truncated, seconds: 5 }],
  })
})

test('sums up parts, with limitations on the session timeline', () => {
  const parts = [
    { name: 'a.ts', inspection: playable(10) },
    { name: 'b.ts', inspection: broken },
    { name: 'c.ts', inspection: playable(5, [gap, truncated]) },
  ]
  expect(joinInspections(parts)).toEqual({
    status: 'playable',
    durationSeconds: 15,
    limitations: [
      { kind: 'part-left-out', message: 'b.ts: no index', seconds: 10, offsetBytes: 7 },
      { ...gap, message: 'c.ts: it jumps', seconds: 12 },
      { ...truncated, message: 'c.ts: it ends', seconds: 15 },
    ],
  })
})

test('if no part is playable, returns the first reason with its details', () => {
  const later: Inspection = { status: 'unplayable', reason: 'encrypted' }
  const parts = [broken, later].map((inspection, i) => ({ name: `${i}.ts`, inspection }))
  expect(joinInspections(parts)).toEqual(broken)
  expect(joinInspections([])).toMatchObject({ status: 'unplayable' })
})

test('the list of limitations is bounded', () => {
  const limitations = Array.from({ length: 90 }, () => truncated)
  const parts = ['a.ts', 'b.ts'].map((name) => ({ name, inspection: playable(1, limitations) }))
  expect(joinInspections(parts)).toMatchObject({ limitations: { length: MAX_LIMITATIONS } })
})
