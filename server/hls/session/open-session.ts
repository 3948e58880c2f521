// A session as it is now: its playlist, the files that its playlists list, and its key frames.
import { isUrlVersion, segmentIv } from '../../delivery/encryption.ts'
import type { Segment } from '../../delivery/segment-sender.ts'
import { AppError } from '../../errors.ts'
import { SPLIT_KEY_FRAME } from '../../media/media-index.ts'
import type { KeyFrame } from '../../media/media-index.ts'
import type { OpenFile, Storage } from '../../storage/storage.ts'
import { SEGMENT_TYPES } from '../playlist/media-types.ts'
import { audioNumber, segmentFileName } from '../playlist/segment-names.ts'
import type { FileName } from '../playlist/segment-names.ts'
import type { HlsRecording, SegmentAddress } from './hls-recording.ts'
import { renditionPlaylist, sessionPlaylist, subtitleSegment } from './session-playlists.ts'
import type { ListedRecording, Listing, TextFile } from './session-playlists.ts'
import type { SessionSource } from './session-source.ts'

/** A file next to a playlist. */
export type HlsFile =
  | { kind: 'text'; text: TextFile }
  | { kind: 'key'; bytes: Uint8Array }
  | { kind: 'init'; bytes: Uint8Array; contentType: string }
  | { kind: 'segment'; segment: Segment }

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

/** A session as it is now, with at most one open file. The caller closes it. */
export class OpenSession {
  readonly #storage: Storage
  readonly #listing: Listing
  #file: OpenFile | undefined

  /** @param file of a session that is a single file; it is closed with the session */
  constructor(storage: Storage, listing: Listing, file?: OpenFile) {
    this.#storage = storage
    this.#listing = listing
    this.#file = file
  }

  /** With the path where the recording was found. */
  get source(): SessionSource {
    return this.#listing.source
  }

  get keyFrames(): KeyFrames {
    return keyFramesOf(this.#storage, this.#listing.recordings)
  }

  async playlist(): Promise<TextFile> {
    const [listed] = this.#listing.recordings
    if (this.#file !== undefined && listed !== undefined) await this.#open(listed)
    return sessionPlaylist(this.#listing, this.#file)
  }

  /**
   * The file of this name; undefined if the session has none. The bytes of a segment are readable
   * until the session is closed.
   *
   * @throws AppError `failed` if a recording cannot be read; the signal's reason
   */
  async find(version: string, name: FileName, signal?: AbortSignal): Promise<HlsFile | undefined> {
    const listed = this.#listed(version)
    if (listed === undefined) return undefined
    const { recording } = listed
    if (name.kind === 'key') return recording.key && { kind: 'key', bytes: recording.key }
    const file = await this.#open(listed)
    if (!(await recording.matches(file))) return undefined
    switch (name.kind) {
      case 'segment':
        if (name.form === recording.form) return findSegment(recording, { ...name, signal }, file)
        return name.form === 'vtt' ? this.#findSubtitles(listed, name, file) : undefined
      case 'init': {
        const bytes = await recording.init(name, file)
        return bytes && { kind: 'init', bytes, contentType: SEGMENT_TYPES[name.form] }
      }
      case 'playlist': {
        const text = await renditionPlaylist(this.#listing, listed, name.rendition)
        return text && { kind: 'text', text }
      }
    }
  }

  /** Whether a missing file may exist if the session has grown or was replaced meanwhile. */
  mayHaveLater(version: string, name: FileName): boolean {
    if (!this.#listing.isGrowing || !isUrlVersion(version)) return false
    const listed = this.#listed(version)
    if (listed === undefined) return true
    const { recording } = listed
    switch (name.kind) {
      case 'segment':
        return recording.plannedSegment(name) === undefined
      case 'init':
        return name.segmentNumber >= recording.plan.segments.length
      case 'key':
      case 'playlist':
        return false
    }
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  #listed(version: string): ListedRecording | undefined {
    return this.#listing.recordings.find(({ recording }) => recording.urlVersion === version)
  }

  /** Opens the recording, or again if the open file is shorter than the index, which is newer. */
  async #open({ path, recording }: ListedRecording): Promise<OpenFile> {
    const { sizeBytes } = recording.planned.stat
    if (this.#file !== undefined && this.#file.stat.sizeBytes < sizeBytes) await this.close()
    this.#file ??= await this.#storage.open(path)
    return this.#file
  }

  async #findSubtitles(
    listed: ListedRecording,
    address: SegmentAddress,
    file: OpenFile,
  ): Promise<HlsFile | undefined> {
    const text = await subtitleSegment(this.#listing, listed, { ...address, file })
    return text && { kind: 'text', text }
  }
}

async function findSegment(
  recording: HlsRecording,
  address: SegmentAddress,
  file: OpenFile,
): Promise<HlsFile | undefined> {
  const { urlVersion, form, key } = recording
  const body = await recording.segment(address, file)
  if (body === undefined) return undefined
  const segment: Segment = {
    etag: `"${urlVersion}-${segmentFileName(address, form, address.rendition)}"`,
    contentType: SEGMENT_TYPES[form],
    body,
    file,
    encryption: key && {
      key,
      iv: segmentIv({ ...address, audio: audioNumber(address.rendition) }),
    },
    checkUnchanged: async () => recording.checkUnchanged(file),
  }
  return { kind: 'segment', segment }
}

/** Those of the first recording that has any. */
function keyFramesOf(storage: Storage, recordings: readonly ListedRecording[]): KeyFrames {
  const listed =
    recordings.find(({ recording }) => listedKeyFrames(recording).length > 0) ?? recordings[0]
  if (listed === undefined)
    return { key: '', isFinal: false, count: 0, read: async () => undefined }
  const { path, recording } = listed
  const { identity, index, reader, growth } = recording.planned
  const splitPoints = listedKeyFrames(recording)
  return {
    key: identity,
    isFinal: growth === undefined,
    count: splitPoints.length,
    read: async (number) => {
      const splitPoint = splitPoints[number]
      if (splitPoint === undefined) return undefined
      const file = await storage.open(path)
      try {
        if (!(await recording.matches(file))) {
          throw new AppError('gone', 'the recording was replaced')
        }
        return await reader.readKeyFrame(file, index, splitPoint)
      } finally {
        await file.close()
      }
    },
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
