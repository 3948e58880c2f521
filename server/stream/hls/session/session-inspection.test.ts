// Joins the inspections of the parts of a session.
import { beforeAll, expect, test } from 'vitest'
import type { Limitation } from '../../../base/problem.ts'
import { fixturePath } from '../../../../test/support/temp-library.ts'
import type { Inspection } from '../../../media/index/inspect-recording.ts'
import { inspectRecording } from '../../../media/index/inspect-recording.ts'
import { MAX_LIMITATIONS } from '../../../media/media-index.ts'
import type { MediaIndex } from '../../../media/media-index.ts'
import { createMediaReaders } from '../../../media/readers.ts'
import { FolderStorage } from '../../../storage/recordings/folder/folder-storage.ts'
import { joinInspections } from './session-inspection.ts'

let index: MediaIndex

beforeAll(async () => {
  const { inspection } = await inspectRecording('ts-h264-pts-wrap-33bit.ts', {
    storage: new FolderStorage(fixturePath('')),
    readers: createMediaReaders(),
    signal: new AbortController().signal,
  })
  if (inspection.status === 'playable') ({ index } = inspection)
})

/** The same recording with another length and other limitations. */
function playable(seconds: number, limitations: Limitation[] = []): Inspection {
  const splitPoints = { ...index.splitPoints, endTicks: seconds * index.splitPoints.timescale }
  const changed = { ...index, splitPoints, limitations }
  return { status: 'playable', identity: '', isExact: true, index: changed }
}

const truncated: Limitation = { code: 'truncated', unit: 'box', offsetBytes: 9 }
const gap: Limitation = { code: 'gap', jumpSeconds: 3, offsetBytes: 5, seconds: 2 }
const broken: Inspection = {
  status: 'unplayable',
  reason: { code: 'moov-missing', offsetBytes: 7 },
}

test('a single recording has the limitations of its index; truncated is at its end', () => {
  expect(joinInspections([{ name: '', inspection: playable(5, [gap, truncated]) }])).toEqual({
    status: 'playable',
    durationSeconds: 5,
    limitations: [gap, { ...truncated, seconds: 5 }],
    videoCodecs: ['avc1.64000b'],
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
      {
        code: 'part-unplayable',
        part: 'b.ts',
        cause: { code: 'moov-missing', offsetBytes: 7 },
        seconds: 10,
        offsetBytes: 7,
      },
      { ...gap, part: 'c.ts', seconds: 12 },
      { ...truncated, part: 'c.ts', seconds: 15 },
    ],
    videoCodecs: ['avc1.64000b'],
  })
})

test('a session without a playable part has the reason of its first part', () => {
  const later: Inspection = { status: 'unplayable', reason: { code: 'encrypted' } }
  const parts = [broken, later].map((inspection, i) => ({ name: `${i}.ts`, inspection }))
  expect(joinInspections(parts)).toEqual(broken)
  expect(joinInspections([])).toEqual({
    status: 'unplayable',
    reason: { code: 'session-empty' },
  })
})

test('the list of limitations is bounded', () => {
  const limitations = Array.from({ length: 90 }, () => truncated)
  const parts = ['a.ts', 'b.ts'].map((name) => ({ name, inspection: playable(1, limitations) }))
  expect(joinInspections(parts)).toMatchObject({ limitations: { length: MAX_LIMITATIONS } })
})
