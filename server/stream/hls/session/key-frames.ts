// The key frames of a session's recordings, for images.
import { closingAsync } from '../../../base/closing.ts'
import { AppError } from '../../../base/errors.ts'
import { SPLIT_KEY_FRAME, uprightSize } from '../../../media/media-index.ts'
import type { KeyFrame } from '../../../media/media-index.ts'
import type { KeyFrameFile, PartFrames } from '../../../media/media-reader.ts'
import type { Storage } from '../../../storage/recordings/storage.ts'
import type { HlsRecording } from './hls-recording.ts'
import type { ListedRecording } from './session-playlists.ts'

/** The key frames of a session, which can be read after it is closed. */
export interface KeyFrames {
  /** Identifies the content: sessions with equal keys have the same frames. */
  key: string
  /** The recording never was listed while it was growing: its key is that of the whole file. */
  isFinal: boolean
  count: number
  /** Undefined if there is no key frame of this number. */
  read(this: void, number: number): Promise<KeyFrame | undefined>
}

/** Those of the first recording that has any. */
export function findKeyFrames(storage: Storage, recordings: readonly ListedRecording[]): KeyFrames {
  const listed =
    recordings.find(({ recording }) => listedKeyFrames(recording).length > 0) ?? recordings[0]
  if (listed === undefined)
    return { key: '', isFinal: false, count: 0, read: async () => undefined }
  const { identity, growth } = listed.recording.planned
  const splitPoints = listedKeyFrames(listed.recording)
  return {
    key: identity,
    isFinal: growth === undefined,
    count: splitPoints.length,
    read: async (number) => {
      const splitPoint = splitPoints[number]
      if (splitPoint === undefined) return undefined
      const file = await openKeyFrames(storage, listed)
      await using _closing = closingAsync(file)
      return await file.read(splitPoint)
    },
  }
}

/** The frames of one of the recordings. */
export function listFrames(storage: Storage, listed: ListedRecording): PartFrames {
  const { recording } = listed
  const { identity, growth, index } = recording.planned
  return {
    identity,
    isFinal: growth === undefined,
    durationSeconds: recording.listedSeconds,
    splitPoints: index.splitPoints,
    listedSplitPoints: recording.plan.segments.at(-1)?.to ?? 0,
    size: () => videoSize(recording),
    open: async () => openKeyFrames(storage, listed),
  }
}

async function openKeyFrames(
  storage: Storage,
  { path, recording }: ListedRecording,
): Promise<KeyFrameFile> {
  const { reader, index } = recording.planned
  const file = await storage.open(path)
  try {
    if (!(await recording.matches(file))) throw new AppError('gone', 'the recording was replaced')
  } catch (error) {
    await file.close()
    throw error
  }
  return {
    read: async (splitPoint) => reader.readKeyFrame(file, index, splitPoint),
    checkUnchanged: async () => recording.checkUnchanged(file),
    close: async () => file.close(),
  }
}

/** Split points of the key frames in listed segments. */
function listedKeyFrames({ planned, plan }: HlsRecording): number[] {
  const { flags } = planned.index.splitPoints
  const end = plan.segments.at(-1)?.to ?? 0
  return [...flags.subarray(0, end).keys()].filter(
    (splitPoint) => ((flags[splitPoint] ?? 0) & SPLIT_KEY_FRAME) !== 0,
  )
}

/** MP4 and Matroska have a size for presentation, with the aspect of pixels. */
function videoSize({ planned: { reader, index } }: HlsRecording): ReturnType<PartFrames['size']> {
  const track = index.tracks.find(({ kind }) => kind === 'video')
  if (track?.kind !== 'video') return undefined
  const shown = reader.initTracks(index, 0)?.find(({ kind }) => kind === 'video')
  const isKnown = shown !== undefined && shown.width > 0 && shown.height > 0
  const { width, height } = isKnown ? shown : track
  return uprightSize({ ...track, width, height })
}
