// Chapters in the containers of a session's recordings, read once for each version of a file.
import { LRUCache } from 'lru-cache'
import type { Gate } from '../../base/admission/gate.ts'
import { SharedWork } from '../../base/admission/shared-work.ts'
import { isAppError } from '../../base/errors.ts'
import { fitChapters, MAX_CHAPTERS, orderChapters } from './chapters.ts'
import type { Chapter, RawChapter } from './chapters.ts'

/** A recording of a session, with its place on the session's timeline. */
export interface ChapterSource {
  path: string
  /** `FileStat.version`. */
  version: string
  startSeconds: number
  durationSeconds: number
}

/** Chapters of one recording, and the version of the file that has them. */
export interface RecordedChapters {
  version: string
  chapters: readonly RawChapter[]
}

export interface ContainerChaptersOptions {
  /** Reads the chapters of one recording, off the event loop. */
  read(this: void, path: string): Promise<RecordedChapters>
  /** Admits the recordings that are read. */
  gate: Gate
  /** Aborted on shutdown. */
  signal: AbortSignal
}

/** Recordings of one session that are read. */
const MAX_SOURCES = 64
/** Chapters of all recordings, about 100 bytes each. */
const MAX_CACHED_CHAPTERS = 50_000

export class ContainerChapters {
  readonly #options: ContainerChaptersOptions
  readonly #known = new LRUCache<string, Chapter[]>({
    maxSize: MAX_CACHED_CHAPTERS,
    sizeCalculation: (chapters) => chapters.length + 1,
  })
  readonly #shared = new SharedWork<Chapter[]>()

  constructor(options: ContainerChaptersOptions) {
    this.#options = options
  }

  /**
   * The chapters of all recordings, in order.
   *
   * @throws AppError `busy` if too many wait, or storage is unavailable
   */
  async find(sources: readonly ChapterSource[]): Promise<Chapter[]> {
    const all: RawChapter[] = []
    for (const source of sources.slice(0, MAX_SOURCES)) {
      if (all.length >= MAX_CHAPTERS) break
      const { startSeconds, durationSeconds } = source
      const chapters = fitChapters(await this.#ofRecording(source), durationSeconds)
      all.push(...chapters.map((chapter) => shift(chapter, startSeconds)))
    }
    return orderChapters(all)
  }

  async #ofRecording({ path, version }: ChapterSource): Promise<Chapter[]> {
    const key = `${version} ${path}`
    const load = async (): Promise<Chapter[]> => this.#load(path, version)
    return this.#known.get(key) ?? this.#shared.join(key, this.#options.signal, load)
  }

  async #load(path: string, version: string): Promise<Chapter[]> {
    try {
      const { read, gate, signal } = this.#options
      const recorded = await gate.run(async () => read(path), signal)
      // The session is at the version that was requested.
      if (recorded.version !== version) return []
      const chapters = orderChapters(recorded.chapters)
      this.#known.set(`${version} ${path}`, chapters)
      return chapters
    } catch (error) {
      if (!isAppError(error, 'not_found', 'gone', 'failed')) throw error
      return []
    }
  }
}

function shift({ startSeconds, endSeconds, title }: Chapter, bySeconds: number): RawChapter {
  return {
    startSeconds: startSeconds + bySeconds,
    ...(endSeconds !== undefined && { endSeconds: endSeconds + bySeconds }),
    title,
  }
}
