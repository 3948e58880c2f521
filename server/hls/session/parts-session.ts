// A session of one or more recordings, played one behind the other.
import { AppError } from '../../errors.ts'
import { SPLIT_KEY_FRAME } from '../../media/media-index.ts'
import type { SplitPointTable } from '../../media/media-index.ts'
import type { OpenFile, Storage } from '../../storage/storage.ts'
import { isUrlVersion, segmentIv } from '../../delivery/encryption.ts'
import { SEGMENT_TYPES } from '../playlist/media-types.ts'
import type {
  PlayableSession,
  Segment,
  SessionFile,
  SessionFrames,
  TextResource,
} from './playable-session.ts'
import type { Presentation, SegmentPlace } from './presentation.ts'
import type { Freshness } from './session-parts.ts'
import { parseSegmentFileName, segmentFileName, audioNumber } from '../playlist/segment-names.ts'
import type { SegmentFile } from '../playlist/segment-names.ts'
import { SessionPlaylists } from './session-playlists.ts'
import type { ListedGrowth, SessionPart } from './session-playlists.ts'
import type { SubtitleFiles } from './subtitle-files.ts'

export interface PartsSessionOptions {
  storage: Storage
  parts: readonly SessionPart[]
  /** Some part may still be written to. */
  isFresh: boolean
  /** The session is listed while it grows, or once was. */
  growth: ListedGrowth | undefined
  /** Of a session that is one recording: its file, which is open already, and the texts that may lie beside it. */
  file?: OpenFile
  sidecars?: SubtitleFiles
  /** Looks again, where what is known may be of a moment ago. */
  lookUpAgain?: (lookup: Freshness) => Promise<readonly SessionPart[]>
}

export class PartsSession implements PlayableSession {
  readonly #options: PartsSessionOptions
  #file: OpenFile | undefined

  constructor(options: PartsSessionOptions) {
    this.#options = options
    this.#file = options.file
  }

  get durationSeconds(): number {
    const { parts } = this.#options
    return parts.reduce((sum, { presentation }) => sum + presentation.durationSeconds, 0)
  }

  get frames(): SessionFrames {
    const { storage, parts } = this.#options
    return partFrames(storage, parts)
  }

  async playlist(): Promise<TextResource> {
    const [part] = this.#options.parts
    if (this.#file !== undefined && part !== undefined) await this.#fileOf(part)
    return new SessionPlaylists(this.#options).playlist(this.#file)
  }

  async find(version: string, fileName: string): Promise<SessionFile | undefined> {
    const wanted = parseSegmentFileName(fileName)
    if (wanted === undefined) return undefined
    const { parts, lookUpAgain } = this.#options
    if (lookUpAgain === undefined) return this.#findIn(parts, version, wanted)
    // What is listed may be of a while ago in segments, never in playlists.
    const known = wanted.kind === 'playlist' ? await lookUpAgain('recent') : parts
    const found = await this.#findIn(known, version, wanted)
    if (found !== undefined || !mayBeListed(known, version, wanted)) return found
    // Maybe by another process, that looked later than this one; or the recording was replaced.
    await this.close()
    return this.#findIn(await lookUpAgain('now'), version, wanted)
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  /** The part's file, no shorter than it was indexed: when this one was opened, the index may have been made just after. */
  async #fileOf({ path, presentation }: SessionPart): Promise<OpenFile> {
    const { sizeBytes } = presentation.recording.stat
    if (this.#file !== undefined && this.#file.stat.sizeBytes < sizeBytes) await this.close()
    this.#file ??= await this.#options.storage.open(path)
    return this.#file
  }

  async #findIn(
    parts: readonly SessionPart[],
    version: string,
    wanted: SegmentFile,
  ): Promise<SessionFile | undefined> {
    const part = parts.find(({ presentation }) => presentation.urlVersion === version)
    if (part === undefined) return undefined
    const { presentation } = part
    if (wanted.kind === 'key') {
      return presentation.key && { kind: 'key', bytes: presentation.key }
    }
    const file = await this.#fileOf(part)
    if (!(await presentation.isOf(file))) return undefined
    const subtitles = new SessionPlaylists({ ...this.#options, parts })
    if (wanted.kind === 'playlist') {
      const text = await subtitles.mediaPlaylist(part, wanted.rendition)
      return text && { kind: 'text', text }
    }
    if (wanted.kind === 'init') {
      const bytes = await presentation.init(wanted, file)
      return bytes && { kind: 'init', bytes, contentType: SEGMENT_TYPES[wanted.form] }
    }
    if (wanted.form === 'vtt') {
      const text = await subtitles.segment(part, wanted, file)
      return text && { kind: 'text', text }
    }
    if (wanted.form !== presentation.form) return undefined
    const segment = await findSegment(presentation, wanted, file)
    return segment && { kind: 'segment', segment }
  }
}

/** Whether a file that is not there may be by now: of other parts, or behind what is known of this one. */
function mayBeListed(parts: readonly SessionPart[], version: string, wanted: SegmentFile): boolean {
  if (!isUrlVersion(version)) return false
  const part = parts.find(({ presentation }) => presentation.urlVersion === version)
  if (part === undefined) return true
  const { presentation } = part
  switch (wanted.kind) {
    case 'segment':
      return presentation.plannedSegment(wanted) === undefined
    case 'init':
      return wanted.segmentNumber >= presentation.plan.segments.length
    case 'key':
    case 'playlist':
      return false
  }
}

async function findSegment(
  presentation: Presentation,
  place: SegmentPlace,
  file: OpenFile,
): Promise<Segment | undefined> {
  const { urlVersion, form, key } = presentation
  const body = await presentation.segment(place, file)
  return (
    body && {
      etag: `"${urlVersion}-${segmentFileName(place, form, place.rendition)}"`,
      contentType: SEGMENT_TYPES[form],
      body,
      file,
      encryption: key && {
        key,
        iv: segmentIv({ ...place, audio: audioNumber(place.rendition) }),
      },
      checkUnchanged: async () => presentation.checkUnchanged(file),
    }
  )
}

/** Those of the first part that has any. */
function partFrames(storage: Storage, parts: readonly SessionPart[]): SessionFrames {
  const part =
    parts.find(({ presentation }) => keySplitPointsOf(presentation).length > 0) ?? parts[0]
  if (part === undefined) return { key: '', count: 0, readKeyFrame: async () => undefined }
  const { path, presentation } = part
  const { identity, index, reader } = presentation.recording
  const keySplitPoints = keySplitPointsOf(presentation)
  return {
    key: identity,
    count: keySplitPoints.length,
    readKeyFrame: async (number) => {
      const splitPoint = keySplitPoints[number]
      if (splitPoint === undefined) return undefined
      const file = await storage.open(path)
      try {
        if (!(await presentation.isOf(file))) {
          throw new AppError('gone', 'the recording was replaced')
        }
        return await reader.readKeyFrame(file, index, splitPoint)
      } finally {
        await file.close()
      }
    },
  }
}

/** Key frames that are listed. */
function keySplitPointsOf({ recording, plan }: Presentation): number[] {
  const { splitPoints } = recording.index
  const end = plan.segments.at(-1)?.to ?? 0
  return [...splitPoints.flags.subarray(0, end).keys()].filter((splitPoint) =>
    isKey(splitPoints, splitPoint),
  )
}

function isKey({ flags }: SplitPointTable, splitPoint: number): boolean {
  return ((flags[splitPoint] ?? 0) & SPLIT_KEY_FRAME) !== 0
}
