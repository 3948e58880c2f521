// Formats problems for people: the problem and the remedy. Codes become text only here. Pure.
import type {
  BoxDefect,
  Limit,
  OmissionCause,
  PlaylistDefect,
  PlaylistFeature,
  PlaylistNameDefect,
  Problem,
} from './problem.ts'

/** One problem as text; neither part contains a path, but for `duplicate`. */
export interface ProblemText {
  /** One sentence without a full stop, fit for a table. */
  message: string
  advice: string
}

type AnyProblem = Problem | OmissionCause
type ByCode = { [Each in AnyProblem as Each['code']]: Each }
type Code = keyof ByCode
/** Correlates a code with its parameters, so that the compiler checks the lookup in `texts`. */
type ProblemOf<C extends Code> = { [Each in C]: ByCode[Each] & { code: Each } }[C]

/** The text of any problem, or of the cause that another problem contains. */
export function formatProblem<C extends Code>(problem: ProblemOf<C>): ProblemText {
  return texts[problem.code](problem)
}

const RECORD_ROBUSTLY =
  'Record to .mkv, .ts or fragmented MP4 in future: these play up to an interruption.'
const REPAIR = 'Repair it with untrunc and a complete recording of the same recorder.'
const INSPECT =
  'Check it with ffprobe. If that fails, it is not a recording, or its start is corrupt or missing.'
const REWRITE = 'Remux a copy: ffmpeg -i FILE -c copy COPY.mkv. Check the disk for errors.'
const REMUX = 'Remux a copy: ffmpeg -i FILE -c copy COPY.mp4'
const SPLIT = 'Split it: ffmpeg -i FILE -c copy -f segment COPY%d.mkv'
const CONVERT_VIDEO =
  'Set the recorder to H.264. Convert a copy: ffmpeg -i FILE -c:v libx264 -c:a aac COPY.mp4'
const CONVERT_AUDIO =
  'Set the recorder to AAC. Convert a copy: ffmpeg -i FILE -c:v copy -c:a aac COPY.mp4'
const TOO_SHORT =
  'It ends before any media. Check whether the recorder was stopped, or the disk was full.'
const EMPTY_SESSION = 'It contains headers only. Remove it, and check whether the stream was live.'
const PROTECTED = 'It is protected. Record from a source without encryption.'
const REPLACE = 'Find another copy; this one cannot be repaired.'
const PLAYLIST = 'Set the recorder to relative names in its own folder, or remove the playlist.'
const CHAT = 'Download it again without embedded images, or split the recording.'
const KEY_FRAMES = 'Set the recorder to regular key frames, for example every 2 s.'

const texts: { [C in Code]: (problem: ProblemOf<C>) => ProblemText } = {
  'file-empty': () => ({
    message: 'the file is empty',
    advice: 'Nothing was recorded. Remove it, and check whether the disk was full.',
  }),
  'file-starts-with-zeros': () => ({
    message:
      'the file starts with zeros: its first blocks were not written to the disk, or are lost',
    advice: `A power failure or a full disk causes this. ${REPLACE}`,
  }),
  'file-truncated': ({ offsetBytes, neededBytes }) => ({
    message: `truncated: the file ends at byte ${offsetBytes}, its headers at ${neededBytes}`,
    advice: TOO_SHORT,
  }),
  'container-unknown': () => ({
    message: 'the container is not MPEG-TS, MP4, Matroska or FLV',
    advice: INSPECT,
  }),
  'ebml-type-unsupported': ({ docType }) => ({
    message: `the file is EBML of type '${docType}', not Matroska`,
    advice: INSPECT,
  }),
  'limit-exceeded': ({ limit, max }) => ({
    message: `limit exceeded: ${limitTexts[limit].message} (at most ${max})`,
    advice: limitTexts[limit].advice,
  }),
  'reader-ended': () => ({
    message: 'the process that reads it has crashed, or needed too much memory or time',
    advice: INSPECT,
  }),
  'timestamps-invalid': () => ({ message: 'the timestamps are out of range', advice: REWRITE }),
  encrypted: () => ({ message: 'the recording is encrypted', advice: PROTECTED }),

  'moov-missing': ({ offsetBytes }) => ({
    message: `moov box missing: the file ends at byte ${offsetBytes} (recording was not finalised)`,
    advice: `${REPAIR} ${RECORD_ROBUSTLY}`,
  }),
  'moov-before-start': () => ({
    message: 'moov box missing: the file starts in the middle of a recording',
    advice: `Put the recorder's init segment before it. ${RECORD_ROBUSTLY}`,
  }),
  'moov-compressed': () => ({ message: 'the moov box is compressed', advice: REMUX }),
  'box-missing': ({ box, parent, offsetBytes }) => ({
    message: `corrupt: box '${parent}' at byte ${offsetBytes} has no '${box}' box`,
    advice: REWRITE,
  }),
  'box-invalid': ({ box, offsetBytes, defect, value }) => ({
    message: `corrupt: box '${box}' at byte ${offsetBytes} ${describeDefect(defect, value)}`,
    advice: REWRITE,
  }),
  'sample-sizes-invalid': () => ({
    message: 'corrupt: the sum of its sample sizes is out of range',
    advice: REWRITE,
  }),

  'program-tables-missing': () => ({
    message: 'the file has no program tables (PAT and PMT)',
    advice: INSPECT,
  }),
  'track-list-missing': () => ({
    message: 'the file ends before its track list',
    advice: TOO_SHORT,
  }),
  'tracks-missing': () => ({ message: 'the file has no video or audio', advice: EMPTY_SESSION }),
  'frames-missing': () => ({
    message: 'the recording ends before its first frame',
    advice: TOO_SHORT,
  }),
  'key-frame-missing': () => ({ message: 'the video has no key frame', advice: KEY_FRAMES }),
  'video-codec-unsupported': ({ codec }) => ({
    message: `video codec ${codec} is not supported by browsers in HLS`,
    advice: CONVERT_VIDEO,
  }),
  'video-config-missing': ({ codec, box }) => ({
    message: `the ${codec} video has no decoder config (${box})`,
    advice: REWRITE,
  }),
  'video-config-invalid': ({ codec }) => ({
    message: `the ${codec} video has no valid decoder config`,
    advice: REWRITE,
  }),
  'video-encrypted': () => ({ message: 'the video is encrypted', advice: PROTECTED }),
  'video-compressed': () => ({
    message: 'the container compresses the video data',
    advice: REMUX,
  }),
  'video-size-invalid': () => ({ message: 'the video frame size is invalid', advice: INSPECT }),
  'audio-codec-unsupported': ({ codec }) => ({
    message: `audio codec ${codec} is not supported`,
    advice: CONVERT_AUDIO,
  }),
  'audio-config-invalid': ({ codec }) => ({
    message: `the${codec === undefined ? '' : ` ${codec}`} audio has no valid decoder config`,
    advice: REWRITE,
  }),
  'audio-encrypted': () => ({ message: 'the audio is encrypted', advice: PROTECTED }),
  'audio-compressed': () => ({ message: 'the container compresses the audio data', advice: REMUX }),
  'audio-format-invalid': () => ({
    message: 'the sample rate or channel count of the audio is invalid',
    advice: REWRITE,
  }),

  'playlist-invalid': ({ defect }) => ({
    message: `the playlist ${playlistDefectTexts[defect]}`,
    advice: PLAYLIST,
  }),
  'playlist-name-rejected': ({ defect }) => ({
    message: `a file name in the playlist ${nameDefectTexts[defect]}`,
    advice: PLAYLIST,
  }),
  'playlist-feature-unsupported': ({ feature }) => ({
    message: `the playlist ${featureTexts[feature]}, which is not supported`,
    advice: PLAYLIST,
  }),
  'segments-missing': () => ({
    message: 'none of the segments in the playlist exists',
    advice: PLAYLIST,
  }),
  'segment-encryption-unsupported': ({ method }) => ({
    message: `the segments are encrypted with ${method}`,
    advice: PROTECTED,
  }),
  'segment-key-wrong': () => ({
    message: 'the segments cannot be decrypted with the key of the playlist',
    advice: 'Put the key of this recording beside its segments.',
  }),
  'session-empty': () => ({ message: 'the session has no recordings', advice: EMPTY_SESSION }),

  truncated: ({ unit, part }) => ({
    message: inPart(
      part,
      unit === 'media'
        ? 'truncated: the file ends before media that its moov box lists'
        : `truncated: the file ends in the middle of ${unit === 'element' ? 'an' : 'a'} ${unit}`,
    ),
    advice:
      'It plays up to this position. Check whether the recorder was stopped, or the disk was full.',
  }),
  corrupt: ({ lengthBytes, part }) => ({
    message: inPart(part, `corrupt: ${lengthBytes} bytes are not valid and are skipped`),
    advice: SKIPPED,
  }),
  'fragment-invalid': ({ part }) => ({
    message: inPart(part, 'corrupt: a fragment contradicts itself and is skipped'),
    advice: SKIPPED,
  }),
  'frames-undecodable': ({ part }) => ({
    message: inPart(part, 'frames are not decodable and are skipped up to the next key frame'),
    advice: SKIPPED,
  }),
  'samples-unreadable': ({ samples, part }) => ({
    message: inPart(part, `corrupt: ${samples} samples are not readable and are left out`),
    advice: SKIPPED,
  }),
  'partly-encrypted': ({ part }) => ({
    message: inPart(part, 'parts of the recording are encrypted'),
    advice: PROTECTED,
  }),
  gap: ({ jumpSeconds, part }) => ({
    message: inPart(
      part,
      jumpSeconds === undefined
        ? 'gap: the timestamps restart'
        : `gap: the timestamps jump by ${jumpSeconds} s`,
    ),
    advice: 'It plays on after the gap. Check whether the stream was interrupted.',
  }),
  'audio-not-served': ({ cause, part }) => ({
    message: inPart(part, `an audio track is not served: ${formatProblem(cause).message}`),
    advice:
      'It plays without this audio. Convert a copy: ffmpeg -i FILE -c:v copy -c:a aac COPY.mp4',
  }),
  'video-not-served': ({ cause, part }) => ({
    message: inPart(part, `a video track is not served: ${formatProblem(cause).message}`),
    advice: 'It plays without this video. Record one video track, as H.264.',
  }),
  'subtitles-not-served': ({ cause, part }) => ({
    message: inPart(part, `a subtitle track is not served: ${formatProblem(cause).message}`),
    advice: 'It plays without these subtitles. Put them beside the recording as a .vtt file.',
  }),
  'chat-not-served': ({ cause, part }) => ({
    message: inPart(part, `the chat is not served: ${formatProblem(cause).message}`),
    advice: CHAT,
  }),
  'part-unplayable': ({ cause, part }) => ({
    message: inPart(part, `unplayable: ${formatProblem(cause).message}`),
    advice: 'The other parts play. Repair a copy of this one, or remove it.',
  }),
  duplicate: ({ servedPath }) => ({
    message: `not served: ${servedPath} is served for the same session`,
    advice: 'Remove it if it is not needed.',
  }),

  'track-empty': () => ({
    message: 'the file announces the track, but has no frames of it',
    advice: INSPECT,
  }),
  'track-limit': ({ tracks }) => ({
    message: `${tracks} tracks exceed the number that is served`,
    advice: REMUX,
  }),
  'audio-codec-changed': ({ codec }) => ({
    message: `the audio codec changes to ${codec}`,
    advice: CONVERT_AUDIO,
  }),
  'subtitle-codec-unsupported': ({ codec }) => ({
    message: `subtitle codec ${codec} is not supported`,
    advice: REMUX,
  }),
  'fragmented-subtitles-unsupported': () => ({
    message: 'subtitles in fragments are not supported',
    advice: REMUX,
  }),
}

const SKIPPED =
  'It plays without them. Check the stream, the network and the disk for errors at this time.'

const boxDefectTexts: Record<BoxDefect, string> = {
  'child-size-invalid': 'has a child box of invalid size',
  'child-too-small': 'has a child box that is too small',
  empty: 'is empty',
  'entries-exceed-box': 'is too small for its entries',
  'entry-invalid': 'has an invalid entry',
  'exceeds-parent': 'exceeds its parent box',
  'size-invalid': 'has an invalid size',
  'smaller-than-header': 'is smaller than its own header',
  'times-invalid': 'has times out of range',
  'timescale-zero': 'has a timescale of 0',
  'too-large': 'is too large',
  'too-many-entries': 'has too many entries',
  'too-small': 'is too small',
  truncated: 'is truncated',
}

const limitTexts: Record<Limit, ProblemText> = {
  'audio-bytes-between-key-frames': {
    message: 'bytes of audio between two key frames',
    advice: KEY_FRAMES,
  },
  boxes: { message: 'boxes', advice: SPLIT },
  'bytes-between-key-frames': { message: 'bytes between two key frames', advice: KEY_FRAMES },
  'chat-bytes': { message: 'bytes of a chat file, unpacked', advice: CHAT },
  'chat-messages': { message: 'messages of a chat', advice: CHAT },
  'chat-text-bytes': { message: 'bytes of the messages of a chat', advice: CHAT },
  'corrupt-ranges': { message: 'corrupt byte ranges', advice: REWRITE },
  discontinuities: { message: 'timestamp discontinuities', advice: SPLIT },
  'empty-table-runs': { message: 'empty entries in a time table', advice: REWRITE },
  'moov-samples-before-fragments': {
    message: 'samples in the moov box before fragments',
    advice: REMUX,
  },
  parts: { message: 'parts of the session', advice: 'Join parts to larger files.' },
  'playlist-bytes': { message: 'bytes of the playlist', advice: PLAYLIST },
  'playlist-repeated-bytes': {
    message: 'times that the playlist lists the same bytes',
    advice: PLAYLIST,
  },
  'playlist-segments': { message: 'segments of the playlist', advice: PLAYLIST },
  'samples-between-key-frames': { message: 'samples between two key frames', advice: KEY_FRAMES },
  'segment-folders': { message: 'folders of segments', advice: PLAYLIST },
  'split-points': { message: 'key frames', advice: SPLIT },
  'track-changes': { message: 'changes of the track list', advice: SPLIT },
}

const playlistDefectTexts: Record<PlaylistDefect, string> = {
  'byte-range-invalid': 'has an invalid byte range',
  'file-missing': 'names a key or playlist that does not exist',
  'iv-invalid': 'has an IV that is not 128 bits long',
  'key-invalid': 'names a key that is not 128 bits long',
  'key-not-named': 'has encrypted segments without a key',
  'nested-multivariant': 'leads to another multivariant playlist',
  'not-a-playlist': 'is not an HLS playlist',
  'no-segments': 'has no segments',
  'no-variants': 'has no variants',
  syntax: 'has a syntax error',
}

const featureTexts: Record<PlaylistFeature, string> = {
  'i-frames-only': 'lists key frames only',
  'separate-audio': 'has video and audio in separate playlists',
  variables: 'uses variables',
}

const nameDefectTexts: Record<PlaylistNameDefect, string> = {
  empty: 'is empty',
  folder: 'is a folder',
  hidden: 'is hidden',
  malformed: 'is malformed',
  'outside-folder': 'is outside of its folder',
  'too-long': 'is too long',
  url: 'is a URL of another server',
}

function describeDefect(defect: BoxDefect, value: number | undefined): string {
  return boxDefectTexts[defect] + (value === undefined ? '' : ` (${value})`)
}

function inPart(part: string | undefined, message: string): string {
  return part === undefined ? message : `${part}: ${message}`
}
