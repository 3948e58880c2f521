import { expect, test } from 'vitest'
import { formatProblem } from './problem-text.ts'
import { unplayableReasonSchema } from './problem.ts'
import type { OmissionCause, Problem, UnplayableReason } from './problem.ts'

type Sample = Problem | OmissionCause

/** Each with a word of its message, and a word of its advice. */
const texts: [Sample, string, string][] = [
  [{ code: 'moov-missing', offsetBytes: 123 }, 'ends at byte 123', 'untrunc'],
  [{ code: 'file-empty' }, 'the file is empty', 'Remove it'],
  [{ code: 'truncated', unit: 'element' }, 'in the middle of an element', 'recorder was stopped'],
  [{ code: 'tracks-missing' }, 'no video or audio', 'headers only'],
  [{ code: 'file-starts-with-zeros' }, 'starts with zeros', 'power failure'],
  [
    { code: 'playlist-name-rejected', defect: 'url' },
    'is a URL of another server',
    'remove the playlist',
  ],
  [{ code: 'frames-missing' }, 'before its first frame', 'recorder was stopped'],
  [{ code: 'video-codec-unsupported', codec: 'MPEG-2' }, 'video codec MPEG-2', 'libx264'],
  [{ code: 'audio-codec-unsupported', codec: 'QDM2' }, 'audio codec QDM2', '-c:a aac'],
  [{ code: 'video-encrypted' }, 'the video is encrypted', 'protected'],
  [
    { code: 'file-truncated', offsetBytes: 100, neededBytes: 123 },
    'ends at byte 100, its headers at 123',
    'recorder was stopped',
  ],
  [{ code: 'moov-compressed' }, 'moov box is compressed', 'Remux'],
  [
    { code: 'box-invalid', box: 'stco', offsetBytes: 12, defect: 'too-small' },
    "box 'stco' at byte 12 is too small",
    'disk',
  ],
  [
    { code: 'box-invalid', box: 'stsz', offsetBytes: 12, defect: 'entry-invalid', value: 7 },
    'has an invalid entry (7)',
    'disk',
  ],
  [
    { code: 'box-missing', box: 'mvhd', parent: 'moov', offsetBytes: 9 },
    "box 'moov' at byte 9 has no 'mvhd' box",
    'disk',
  ],
  [
    { code: 'limit-exceeded', limit: 'discontinuities', max: 4096 },
    'timestamp discontinuities (at most 4096)',
    'Split',
  ],
  [{ code: 'gap', jumpSeconds: -102 }, 'the timestamps jump by -102 s', 'interrupted'],
  [{ code: 'gap', part: 'b.ts' }, 'b.ts: gap: the timestamps restart', 'interrupted'],
  [{ code: 'corrupt', lengthBytes: 188, offsetBytes: 9 }, '188 bytes', 'It plays without them'],
  [
    { code: 'part-unplayable', cause: { code: 'video-encrypted' }, part: 'b.ts' },
    'b.ts: unplayable: the video is encrypted',
    'other parts play',
  ],
  [
    { code: 'chat-not-served', cause: { code: 'reader-ended' }, part: 'a.json' },
    'a.json: the chat is not served: the process that reads it has crashed',
    'without embedded images',
  ],
  [
    { code: 'audio-not-served', cause: { code: 'track-empty' } },
    'an audio track is not served: the file announces the track, but has no frames of it',
    'without this audio',
  ],
  [{ code: 'duplicate', servedPath: 'a/b.mp4' }, 'a/b.mp4', 'Remove it'],
]

test.each(texts)('formats %o', (problem, message, advice) => {
  expect(formatProblem(problem).message).toContain(message)
  expect(formatProblem(problem).advice).toContain(advice)
})

test('each reason has its own text, on one line and without a full stop', () => {
  const messages = unplayableReasonSchema.options.map(
    (option) => formatProblem(exampleOf(option.shape.code.value)).message,
  )
  expect(new Set(messages).size).toBe(unplayableReasonSchema.options.length)
  for (const message of messages) expect(message).toMatch(/^[^\n]{10,}[^.\n]$/)
})

test('a stored reason is parsed with its parameters, and other values are rejected', () => {
  const reason: UnplayableReason = { code: 'moov-missing', offsetBytes: 12 }
  expect(unplayableReasonSchema.parse(JSON.parse(JSON.stringify(reason)))).toEqual(reason)
  for (const wrong of ['moov-missing', { code: 'moov-missing' }, { code: 'other' }, null]) {
    expect(unplayableReasonSchema.safeParse(wrong).success).toBe(false)
  }
})

/** A reason of the code; the parser rejects it where a code needs parameters that are not here. */
function exampleOf(code: UnplayableReason['code']): UnplayableReason {
  const common = { offsetBytes: 1, neededBytes: 2, docType: 'x', codec: 'x', box: 'x', parent: 'y' }
  const more = { method: 'x', limit: 'boxes', max: 1, feature: 'variables', value: 1 }
  const attempts = ['too-small', 'syntax', 'empty'].map((defect) =>
    unplayableReasonSchema.safeParse({ code, ...common, ...more, defect }),
  )
  const parsed = attempts.find(({ success }) => success)
  if (parsed?.data === undefined) throw new Error(`no example of ${code}`)
  return parsed.data
}
