// A session of one or more recordings, played one behind the other.
import { AppError } from '../errors.ts'
import { CUT_KEY } from '../media/media-index.ts'
import type { CutTable } from '../media/media-index.ts'
import type { OpenFile, Storage } from '../storage/storage.ts'
import { isUrlVersion, segmentIv } from './encryption.ts'
import { SEGMENT_TYPES } from './media-types.ts'
import type {
  PlayableSession,
  Segment,
  SessionFile,
  SessionPictures,
  SessionText,
} from './playable-session.ts'
import type { Presentation, SegmentPlace } from './presentation.ts'
import type { Look } from './session-parts.ts'
import { parseSegmentFileName, segmentFileName, soundNumber } from './segment-names.ts'
import type { SegmentFile } from './segment-names.ts'
import { SessionTexts } from './session-texts.ts'
import type { ListedGrowth, SessionPart } from './session-texts.ts'
import type { SidecarTexts } from './sidecar-texts.ts'

export interface PartsSessionOptions {
  storage: Storage
  parts: readonly SessionPart[]
  /** Some part may still be written to. */
  isFresh: boolean
  /** The session is listed while it grows, or once was. */
  growth: ListedGrowth | undefined
  /** Of a session that is one recording: its file, which is open already, and the texts that may lie beside it. */
  file?: OpenFile
  sidecars?: SidecarTexts
  /** Looks again, where what is known may be of a moment ago. */
  lookAgain?: (look: Look) => Promise<readonly SessionPart[]>
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

  get pictures(): SessionPictures {
    const { storage, parts } = this.#options
    return partPictures(storage, parts)
  }

  async playlist(): Promise<SessionText> {
    const [part] = this.#options.parts
    if (this.#file !== undefined && part !== undefined) await this.#fileOf(part)
    return new SessionTexts(this.#options).playlist(this.#file)
  }

  async find(version: string, fileName: string): Promise<SessionFile | undefined> {
    const wanted = parseSegmentFileName(fileName)
    if (wanted === undefined) return undefined
    const { parts, lookAgain } = this.#options
    if (lookAgain === undefined) return this.#findIn(parts, version, wanted)
    // What is listed may be of a while ago in segments, never in playlists.
    const known = wanted.kind === 'playlist' ? await lookAgain('recent') : parts
    const found = await this.#findIn(known, version, wanted)
    if (found !== undefined || !mayBeListed(known, version, wanted)) return found
    // Maybe by another process, that looked later than this one; or the recording was replaced.
    await this.close()
    return this.#findIn(await lookAgain('now'), version, wanted)
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
    const texts = new SessionTexts({ ...this.#options, parts })
    if (wanted.kind === 'playlist') {
      const text = await texts.mediaPlaylist(part, wanted.rendition)
      return text && { kind: 'text', text }
    }
    if (wanted.kind === 'init') {
      const bytes = await presentation.init(wanted, file)
      return bytes && { kind: 'init', bytes, contentType: SEGMENT_TYPES[wanted.form] }
    }
    if (wanted.form === 'vtt') {
      const text = await texts.segment(part, wanted, file)
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
        iv: segmentIv({ ...place, sound: soundNumber(place.rendition) }),
      },
      checkUnchanged: async () => presentation.checkUnchanged(file),
    }
  )
}

/** Those of the first part that has any. */
function partPictures(storage: Storage, parts: readonly SessionPart[]): SessionPictures {
  const part = parts.find(({ presentation }) => keyCutsOf(presentation).length > 0) ?? parts[0]
  if (part === undefined) return { key: '', count: 0, readKeyFrame: async () => undefined }
  const { path, presentation } = part
  const { identity, index, reader } = presentation.recording
  const keyCuts = keyCutsOf(presentation)
  return {
    key: identity,
    count: keyCuts.length,
    readKeyFrame: async (number) => {
      const cut = keyCuts[number]
      if (cut === undefined) return undefined
      const file = await storage.open(path)
      try {
        if (!(await presentation.isOf(file))) {
          throw new AppError('gone', 'the recording was replaced')
        }
        return await reader.readKeyFrame(file, index, cut)
      } finally {
        await file.close()
      }
    },
  }
}

/** Key frames that are listed. */
function keyCutsOf({ recording, plan }: Presentation): number[] {
  const { cuts } = recording.index
  const end = plan.segments.at(-1)?.to ?? 0
  return [...cuts.flags.subarray(0, end).keys()].filter((cut) => isKey(cuts, cut))
}

function isKey({ flags }: CutTable, cut: number): boolean {
  return ((flags[cut] ?? 0) & CUT_KEY) !== 0
}
