// A session as it is now: its playlist, the files that its playlists list, and its key frames.
import { createHash } from 'node:crypto'
import { isUrlVersion, segmentIv } from '../../delivery/encryption.ts'
import type { SegmentBody } from '../../delivery/segment-body.ts'
import type { Segment } from '../../delivery/segment-sender.ts'
import { uprightSize } from '../../../media/media-index.ts'
import type { OpenFile, Storage } from '../../../storage/recordings/storage.ts'
import { SEGMENT_TYPES } from '../playlist/media-types.ts'
import { renditionNumber, segmentFileName } from '../playlist/segment-names.ts'
import type { FileName } from '../playlist/segment-names.ts'
import { ownBytes } from '../segment/segment-bodies.ts'
import type { SoleRecording } from './audio-table.ts'
import type { HlsRecording, SegmentAddress } from './hls-recording.ts'
import { findKeyFrames, listFrames } from './key-frames.ts'
import type { KeyFrames } from './key-frames.ts'
import type { PartFrames } from '../../../media/media-reader.ts'
import {
  renditionPlaylist,
  sessionPlaylist,
  sessionTracks,
  subtitleFile,
  subtitleSegment,
} from './session-playlists.ts'
import type {
  ListedRecording,
  Listing,
  PlaylistRequest,
  SessionTracks,
  TextFile,
} from './session-playlists.ts'
import { sessionQualities } from './session-qualities.ts'
import type { SessionQuality } from './session-qualities.ts'
import type { KnownStart, SessionSource } from './session-source.ts'

/** A file next to a playlist. */
export type HlsFile =
  | { kind: 'text'; text: TextFile }
  | { kind: 'key'; bytes: Uint8Array }
  | { kind: 'init'; bytes: Uint8Array; contentType: string }
  | { kind: 'segment'; segment: Segment }

/** A recording of a session. */
export interface SessionPart {
  path: string
  /** `FileStat.version` of the file that is listed. */
  version: string
  startSeconds: number
  durationSeconds: number
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
    return findKeyFrames(this.#storage, this.#listing.recordings)
  }

  /** As `parts`, with the frames of each. They can be read after the session is closed. */
  get frames(): PartFrames[] {
    return this.#listing.recordings.map((listed) => listFrames(this.#storage, listed))
  }

  /** A recording may still be written to. */
  get isGrowing(): boolean {
    return this.#listing.isGrowing
  }

  /** The recordings in playback order, with their places on the session's timeline. */
  get parts(): SessionPart[] {
    let startSeconds = 0
    return this.#listing.recordings.map(({ path, recording }) => {
      const durationSeconds = recording.listedSeconds
      const { version } = recording.planned.stat
      const part = { path, version, startSeconds, durationSeconds }
      startSeconds += durationSeconds
      return part
    })
  }

  /** When the first recording started, if it is known. */
  get start(): KnownStart | undefined {
    return this.#listing.recordings[0]?.start
  }

  /** Codec and upright size of the first video; undefined without any. */
  get video(): { codec: string; width: number; height: number } | undefined {
    for (const { recording } of this.#listing.recordings) {
      const video = recording.planned.index.tracks.find((track) => track.kind === 'video')
      if (video !== undefined) return { codec: video.codec, ...uprightSize(video) }
    }
    return undefined
  }

  /** Needs no open file. */
  async tracks(): Promise<SessionTracks> {
    return sessionTracks(this.#listing)
  }

  /** @throws AppError `no_such_quality`; see `sessionPlaylist` */
  async playlist(wanted: Pick<PlaylistRequest, 'audio' | 'quality'> = {}): Promise<TextFile> {
    const [listed] = this.#listing.recordings
    if (this.#file !== undefined && listed !== undefined) await this.#open(listed)
    const open = async (path: string) => this.#storage.open(path)
    return sessionPlaylist(this.#listing, { ...wanted, file: this.#file, open })
  }

  /** What visitors can choose from, the original first. Reads a segment of the first recording. */
  async qualities(): Promise<SessionQuality[]> {
    const { recordings } = this.#listing
    const [listed] = recordings
    if (listed === undefined) return []
    const file = await this.#open(listed).catch(() => undefined)
    const { path, recording: first } = listed
    const open = async () => this.#storage.open(path)
    return sessionQualities(
      recordings.map(({ recording }) => recording),
      {
        measure: async (rendition) => file && first.averageBits(rendition, file),
        canEncode: async (rendition) =>
          (await first.encodes?.track(rendition, { open })) !== undefined,
      },
    )
  }

  /** The recording of a session that has ended, if it is the only one. */
  async soleRecording(): Promise<SoleRecording | undefined> {
    const [listed, other] = this.#listing.recordings
    if (listed === undefined || other !== undefined || this.isGrowing) return undefined
    const { recording } = listed
    const file = await this.#open(listed)
    return (await recording.matches(file)) ? { recording, file } : undefined
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
    const { path, recording } = listed
    const identity = recording.identityWith(version)
    if (name.kind === 'key') return identity?.key && { kind: 'key', bytes: identity.key }
    if ('rendition' in name && recording.identityOf(name.rendition) !== identity) return undefined
    const file = await this.#open(listed)
    if (!(await recording.matches(file))) return undefined
    const context = { open: async () => this.#storage.open(path), signal }
    switch (name.kind) {
      case 'segment':
        if (name.form === 'vtt')
          return asFile(await subtitleSegment(this.#listing, listed, { ...name, file }))
        if (name.form !== recording.formOf(name.rendition)) return undefined
        return findSegment(recording, { ...name, ...context }, file)
      case 'init': {
        const bytes = await recording.init({ ...name, ...context }, file)
        return bytes && { kind: 'init', bytes, contentType: SEGMENT_TYPES[name.form] }
      }
      case 'subtitles':
        return asFile(await subtitleFile(this.#listing, listed, name.id))
      case 'playlist':
        return asFile(await renditionPlaylist(this.#listing, listed, name.rendition))
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
        return name.segmentNumber >= recording.planOf(name.rendition).segments.length
      case 'key':
      case 'playlist':
      case 'subtitles':
        return false
    }
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  #listed(version: string): ListedRecording | undefined {
    return this.#listing.recordings.find(({ recording }) => recording.identityWith(version))
  }

  /** Opens the recording, or again if the open file is shorter than the index, which is newer. */
  async #open({ path, recording }: ListedRecording): Promise<OpenFile> {
    const { sizeBytes } = recording.planned.stat
    if (this.#file !== undefined && this.#file.stat.sizeBytes < sizeBytes) await this.close()
    this.#file ??= await this.#storage.open(path)
    return this.#file
  }
}

function asFile(text: TextFile | undefined): HlsFile | undefined {
  return text && { kind: 'text', text }
}

async function findSegment(
  recording: HlsRecording,
  address: SegmentAddress,
  file: OpenFile,
): Promise<HlsFile | undefined> {
  const { urlVersion, key } = recording.identityOf(address.rendition)
  const form = recording.formOf(address.rendition)
  const body = await recording.segment(address, file)
  if (body === undefined) return undefined
  if (address.rendition.kind === 'encoded') void encodeNext(recording, address)
  const segment: Segment = {
    etag: `"${urlVersion}-${segmentFileName(address, form, address.rendition)}${contentTag(body)}"`,
    contentType: SEGMENT_TYPES[form],
    body,
    file,
    isTranscoded: recording.hasTranscodedAudio(address.rendition),
    encryption: key && {
      key,
      iv: segmentIv({ ...address, rendition: renditionNumber(address.rendition) }),
    },
    checkUnchanged: async () => recording.checkUnchanged(file),
  }
  return { kind: 'segment', segment }
}

/** Segments that are encoded before a player requests them. */
const SEGMENTS_AHEAD = 2

/** The visitor plays on from here. Never rejects. */
async function encodeNext(recording: HlsRecording, address: SegmentAddress): Promise<void> {
  const { rendition, open } = address
  const { segments } = recording.planOf(rendition)
  try {
    for (let number = address.number + 1; number <= address.number + SEGMENTS_AHEAD; number += 1) {
      const tailBytes = segments[number]?.tailBytes
      await recording.encodeAhead({ number, tailBytes, rendition, open })
    }
  } catch {
    // The request for the segment reports it.
  }
}

/** Distinguishes the bytes of a URL that may have others. */
function contentTag(body: SegmentBody): string {
  if (body.isLasting !== false) return ''
  const hash = createHash('sha256')
  for (const part of body.parts) hash.update(ownBytes(part))
  return `-${hash.digest('base64url')}`
}
