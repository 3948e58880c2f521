// What several recordings say of the session that they make together.
import { beforeAll, expect, test } from 'vitest'
import type { Limitation } from '../../problem.ts'
import { fixturePath } from '../../../test/support/temp-library.ts'
import type { Inspection } from '../../media/index/inspect-recording.ts'
import { inspectRecording } from '../../media/index/inspect-recording.ts'
import { MAX_LIMITATIONS } from '../../media/media-index.ts'
import type { MediaIndex } from '../../media/media-index.ts'
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

/** The same recording, of another length and with other flaws. */
function playable(seconds: number, limitations: Limitation[] = []): Inspection {
  const splitPoints = { ...index.splitPoints, endTicks: seconds * index.splitPoints.timescale }
  return { status: 'playable', identity: '', index: { ...index, splitPoints, limitations } }
}

const truncated: Limitation = { kind: 'cut-off', message: 'it ends', offsetBytes: 9 }
const gap: Limitation = { kind: 'gap', message: 'it jumps', offsetBytes: 5, seconds: 2 }
const broken: Inspection = {
  status: 'unplayable',
  reason: 'no index',
  details: { offsetBytes: 7, advice: 'index it' },
}

test('a recording alone says what its index says; cut off is where it ends', () => {
  expect(joinInspections([{ name: '', inspection: playable(5, [gap, truncated]) }])).toEqual({
    status: 'playable',
    durationSeconds: 5,
    limitations: [gap, { ...truncated, seconds: 5 }],
  })
})

test('parts add up, their flaws lie on the timeline of all, and one that cannot be played is one', () => {
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

test('where no part plays, the first reason is told with all that is known of it', () => {
  const later: Inspection = { status: 'unplayable', reason: 'encrypted' }
  const parts = [broken, later].map((inspection, i) => ({ name: `${i}.ts`, inspection }))
  expect(joinInspections(parts)).toEqual(broken)
  expect(joinInspections([])).toMatchObject({ status: 'unplayable' })
})

test('the list of flaws is bounded', () => {
  const limitations = Array.from({ length: 90 }, () => truncated)
  const parts = ['a.ts', 'b.ts'].map((name) => ({ name, inspection: playable(1, limitations) }))
  expect(joinInspections(parts)).toMatchObject({ limitations: { length: MAX_LIMITATIONS } })
})
