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
  /** The session is listed while it grows, or once was. */
  growth: { isEnded: boolean; longestSeconds: number } | undefined
  /** The only part's file, where it is open already. */
  file?: OpenFile
  /** Looks again, where what is known may be of a moment ago. */
  refresh?: () => Promise<readonly SessionPart[]>
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

  playlist(): SessionText {
    const { parts, isFresh, growth } = this.#options
    const encryption = encryptionOf(parts)
    return {
      version: textVersion(parts, growth),
      contentType: PLAYLIST_TYPE,
      isFresh,
      format: () => formatPlaylist(parts.map(playlistPart), { encryption, growth }),
    }
  }

  async find(version: string, fileName: string): Promise<SessionFile | undefined> {
    const wanted = parseSegmentFileName(fileName)
    if (wanted === undefined) return undefined
    const { parts, refresh } = this.#options
    const found = await this.#findIn(parts, version, wanted)
    if (found !== undefined || refresh === undefined) return found
    // Listed a moment ago, maybe by another process; or the recording was replaced.
    await this.close()
    return this.#findIn(await refresh(), version, wanted)
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
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
    this.#file ??= await this.#options.storage.open(part.path)
    const file = this.#file
    if (!(await presentation.isOf(file))) return undefined
    if (wanted.kind === 'init') {
      const bytes = await presentation.init(wanted.segmentNumber, wanted.form, file)
      return bytes && { kind: 'init', bytes, contentType: SEGMENT_TYPES[wanted.form] }
    }
    if (wanted.form !== presentation.form) return undefined
    const segment = await findSegment(presentation, wanted.number, file)
    return segment && { kind: 'segment', segment }
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
      checkUnchanged: async () => presentation.checkUnchanged(file),
    }
  )
}

function playlistPart({ presentation: { plan, urlVersion, form }, startMs }: SessionPart) {
  return { plan, urlVersion, form, startMs }
}

function encryptionOf(parts: readonly SessionPart[]): 'aes-128' | 'none' {
  return parts.some(({ presentation }) => presentation.key !== undefined) ? 'aes-128' : 'none'
}

/** All that the text depends on: with its version, a recording's segments are told by their number. */
function textVersion(parts: readonly SessionPart[], growth: PartsSessionOptions['growth']): string {
  const facts = parts.map(({ presentation: { urlVersion, plan }, startMs }) => [
    urlVersion,
    plan.segments.length,
    startMs ?? null,
  ])
  return createHash('sha256')
    .update(JSON.stringify([growth ?? null, facts]))
    .digest('base64url')
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
        if (!(await presentation.isOf(file)))
          throw new AppError('gone', 'the recording was replaced')
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

/** Key frames that are listed. */
function keyCutsOf({ recording, plan }: Presentation): number[] {
  const { cuts } = recording.index
  const end = plan.segments.at(-1)?.to ?? 0
  return [...cuts.flags.subarray(0, end).keys()].filter((cut) => isKey(cuts, cut))
}

function isKey({ flags }: CutTable, cut: number): boolean {
  return ((flags[cut] ?? 0) & CUT_KEY) !== 0
}
