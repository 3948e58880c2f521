// A session of one or more recordings, played one behind the other.
import { createHash } from 'node:crypto'
import { AppError } from '../errors.ts'
import { CUT_KEY } from '../media/media-index.ts'
import type { CutTable } from '../media/media-index.ts'
import type { OpenFile, Storage } from '../storage/storage.ts'
import { PLAYLIST_TYPE, SEGMENT_TYPES } from './media-types.ts'
import type {
  PlayableSession,
  Segment,
  SessionFile,
  SessionPictures,
  SessionText,
} from './playable-session.ts'
import { formatPlaylist, parseSegmentFileName } from './playlist.ts'
import type { SegmentFile } from './playlist.ts'
import type { Presentation } from './presentation.ts'

/** One recording of a session. */
export interface SessionPart {
  path: string
  presentation: Presentation
  /** When it began, in milliseconds since 1970, where that is known. */
  startMs?: number | undefined
}

export interface PartsSessionOptions {
  storage: Storage
  parts: readonly SessionPart[]
  /** Some part may still be written to. */
  isFresh: boolean
  /** The only part's file, where it is open already. */
  file?: OpenFile
}

export class PartsSession implements PlayableSession {
  readonly #options: PartsSessionOptions
  #file: OpenFile | undefined

  constructor(options: PartsSessionOptions) {
    this.#options = options
    this.#file = options.file
  }

  get durationSeconds(): number {
    return this.#options.parts.reduce(
      (sum, { presentation }) => sum + presentation.durationSeconds,
      0,
    )
  }

  get pictures(): SessionPictures {
    const { storage, parts } = this.#options
    return partPictures(storage, parts)
  }

  playlist(): SessionText {
    const { parts, isFresh } = this.#options
    return {
      version: textVersion(parts),
      contentType: PLAYLIST_TYPE,
      isFresh,
      format: () => formatPlaylist(parts.map(playlistPart), { encryption: encryptionOf(parts) }),
    }
  }

  async find(version: string, fileName: string): Promise<SessionFile | undefined> {
    const part = this.#options.parts.find(({ presentation }) => presentation.urlVersion === version)
    const wanted = parseSegmentFileName(fileName)
    if (part === undefined || wanted === undefined) return undefined
    return this.#findIn(part, wanted)
  }

  async close(): Promise<void> {
    await this.#file?.close()
  }

  async #findIn(part: SessionPart, wanted: SegmentFile): Promise<SessionFile | undefined> {
    const { presentation } = part
    if (wanted.kind === 'key') {
      return presentation.key && { kind: 'key', bytes: presentation.key }
    }
    const file = await this.#open(part)
    if (wanted.kind === 'init') {
      const bytes = await presentation.init(wanted.segmentNumber, wanted.form, file)
      return bytes && { kind: 'init', bytes, contentType: SEGMENT_TYPES[wanted.form] }
    }
    if (wanted.form !== presentation.form) return undefined
    const segment = await findSegment(presentation, wanted.number, file)
    return segment && { kind: 'segment', segment }
  }

  async #open({ path, presentation }: SessionPart): Promise<OpenFile> {
    this.#file ??= await this.#options.storage.open(path)
    if (presentation.isOf(this.#file)) return this.#file
    throw new AppError('failed', 'the recording has just changed')
  }
}

async function findSegment(
  presentation: Presentation,
  number: number,
  file: OpenFile,
): Promise<Segment | undefined> {
  const { urlVersion, form, key } = presentation
  const body = await presentation.segment(number, file)
  return (
    body && {
      etag: `"${urlVersion}-${number}"`,
      contentType: SEGMENT_TYPES[form],
      body,
      file,
      encryption: key && { key, number },
      checkUnchanged: async () => file.checkUnchanged(),
    }
  )
}

function playlistPart({ presentation: { plan, urlVersion, form }, startMs }: SessionPart) {
  return { plan, urlVersion, form, startMs }
}

function encryptionOf(parts: readonly SessionPart[]): 'aes-128' | 'none' {
  return parts.some(({ presentation }) => presentation.key !== undefined) ? 'aes-128' : 'none'
}

/** All that the text depends on; a version stands for its recording's whole plan. */
function textVersion(parts: readonly SessionPart[]): string {
  const facts = parts.map(({ presentation, startMs }) => [presentation.urlVersion, startMs ?? null])
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url')
}

/** Those of the first part that has any. */
function partPictures(storage: Storage, parts: readonly SessionPart[]): SessionPictures {
  const part = parts.find(({ presentation }) => keyCutsOf(presentation).length > 0) ?? parts[0]
  if (part === undefined) return { key: '', count: 0, readKeyFrame: async () => undefined }
  const { path, presentation } = part
  const keyCuts = keyCutsOf(presentation)
  return {
    key: presentation.recording.identity,
    count: keyCuts.length,
    readKeyFrame: async (number) => {
      const cut = keyCuts[number]
      if (cut === undefined) return undefined
      const file = await storage.open(path)
      try {
        if (!presentation.isOf(file)) throw new AppError('gone', 'the recording was replaced')
        return await presentation.recording.reader.readKeyFrame(
          file,
          presentation.recording.index,
          cut,
        )
      } finally {
        await file.close()
      }
    },
  }
}

function keyCutsOf({ recording }: Presentation): number[] {
  const { cuts } = recording.index
  return [...cuts.flags.keys()].filter((cut) => isKey(cuts, cut))
}

function isKey({ flags }: CutTable, cut: number): boolean {
  return ((flags[cut] ?? 0) & CUT_KEY) !== 0
}
