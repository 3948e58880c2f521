// What a person can do about a recording that does not play, or not as it was meant. Pure.
import type { SessionLimitation } from '../hls/session/session-inspection.ts'

const RECORD_ROBUSTLY =
  'Record to .mkv, .ts or fragmented MP4 next time: those play up to the break.'

/** By words of the reason; the first that fits. */
const byReason: readonly (readonly [RegExp, string])[] = [
  [
    /\bmoov\b.*(?:was written|missing|ends)|ends before its index/,
    `The recorder was stopped before it wrote the index. A tool such as untrunc can make it anew from a whole recording of the same recorder. ${RECORD_ROBUSTLY}`,
  ],
  [
    /\bplaylist\b/,
    'Have the recorder write names of files in the folder itself, or lay the parts into the folder without the playlist.',
  ],
  [
    /no video or sound|no pictures and no sound/,
    'Only a head was recorded: remove it, and see whether the stream was there.',
  ],
  [
    /begins with zeros/,
    'A power cut or a full disk does that. Look for another copy; this one cannot be repaired.',
  ],
  [/\bempty\b/, 'Nothing was recorded: remove it, and see whether the disk was full.'],
  [
    /\bvideo\b.*no browser plays/,
    'Convert a copy, for example with: ffmpeg -i FILE -c:v libx264 -c:a aac COPY.mp4 — and set the recorder to H.264.',
  ],
  [
    /\bsound\b.*no browser plays/,
    'Convert the sound of a copy, for example with: ffmpeg -i FILE -c:v copy -c:a aac COPY.mp4 — and set the recorder to AAC.',
  ],
  [/encrypted/, 'It is protected; record from a source that is not.'],
  [
    /ends before/,
    'It was cut off before there was anything to play. See whether the recorder was stopped, or the disk full, then.',
  ],
  [/compressed/, 'Rewrite its index: ffmpeg -i FILE -c copy COPY.mp4'],
  [
    /damaged|cannot be read|cut up/,
    'Try to rewrite it: ffmpeg -i FILE -c copy COPY.mkv — and check the disk it lay on.',
  ],
  [
    /too (?:long|large|many)|break more than/,
    'Split it: ffmpeg -i FILE -c copy -f segment COPY%d.mkv',
  ],
]

const UNKNOWN =
  'See whether ffprobe reads it: if not, it is no recording, or its head is damaged or still to be written.'

const byLimitation: Record<SessionLimitation['kind'], string> = {
  'cut-off':
    'It plays up to the break. See whether the recorder was stopped, or the disk full, then.',
  damaged:
    'It plays without the damaged stretch. See whether the stream, the network or the disk had trouble then.',
  gap: 'It plays on behind the gap. See whether the stream was interrupted then.',
  'part-left-out': 'The other parts play. Repair a copy of this one, or remove it.',
  'sound-left-out':
    'It plays without that sound. Convert a copy, for example with: ffmpeg -i FILE -c:v copy -c:a aac COPY.mp4',
  'pictures-left-out':
    'It plays without those pictures. Where they are wanted, record one video, as H.264.',
  'text-left-out': 'It plays without that text. Put it beside the recording as a .vtt file.',
}

/** Advice for a reason that a recording cannot be played. */
export function adviseOnReason(reason: string): string {
  return byReason.find(([pattern]) => pattern.test(reason))?.[1] ?? UNKNOWN
}

/** Advice for a flaw of a recording that plays. */
export function adviseOnLimitation(kind: SessionLimitation['kind']): string {
  return byLimitation[kind]
}
