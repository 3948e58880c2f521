// Subtitle files next to a recording: `name.vtt`, `name.de.srt`.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { compareNatural } from '../../catalog/names/ordering.ts'
import { joinPath } from '../../catalog/names/library-path.ts'
import { AppError, isAppError } from '../../errors.ts'
import type { Storage } from '../../storage/storage.ts'
import type { SubtitleSidecar } from '../playlist/renditions.ts'
import { parseSubtitles } from '../playlist/subtitle-file.ts'

/** New files are found after this time. */
const FOLDER_TTL_MS = 5000
const MAX_FOLDERS = 256
const MAX_SUBTITLES = 32
const MAX_FILE_BYTES = 8 * 1024 * 1024
/** Parsed files, charged by their size on disk. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024

const ENDING = /^(?:\.(?<language>[a-z]{2,3}(?:-[a-z0-9]{2,8})*))?\.(?<format>vtt|srt)$/i

interface FoundFile {
  name: string
  language: string | undefined
  format: 'vtt' | 'srt'
}

export class SubtitleFiles {
  readonly #storage: Storage
  readonly #folders = new LRUCache<string, Promise<string[]>>({
    max: MAX_FOLDERS,
    ttl: FOLDER_TTL_MS,
  })
  readonly #subtitles = new LRUCache<string, SubtitleSidecar>({ maxSize: MAX_CACHED_BYTES })

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /** The files of the recording at `path`, in natural order. Leaves out unreadable files. */
  async find(path: string): Promise<SubtitleSidecar[]> {
    const slash = path.lastIndexOf('/')
    const folder = path.slice(0, Math.max(slash, 0))
    const base = path.slice(slash + 1).replace(/\.[^.]*$/, '')
    const files = findSubtitles(await this.#names(folder), base)
    const subtitles = await Promise.all(files.map(async (file) => this.#read(folder, file)))
    return subtitles.filter((track) => track !== undefined)
  }

  async #names(folder: string): Promise<string[]> {
    const cached = this.#folders.get(folder)
    if (cached !== undefined) return cached
    const names = this.#storage
      .list(folder)
      .then((entries) => entries.filter(({ kind }) => kind === 'file').map(({ name }) => name))
    this.#folders.set(folder, names)
    names.catch(() => this.#folders.delete(folder))
    return names
  }

  async #read(folder: string, found: FoundFile): Promise<SubtitleSidecar | undefined> {
    try {
      return await this.#parse(joinPath(folder, found.name), found)
    } catch (error) {
      if (!isAppError(error, 'not_found', 'failed')) throw error
      return undefined
    }
  }

  async #parse(
    path: string,
    { language, format }: FoundFile,
  ): Promise<SubtitleSidecar | undefined> {
    const file = await this.#storage.open(path)
    try {
      const { sizeBytes, version: fileVersion } = file.stat
      if (sizeBytes > MAX_FILE_BYTES) throw new AppError('failed', 'the subtitle file is too large')
      const key = `${fileVersion} ${path}`
      const cached = this.#subtitles.get(key)
      if (cached !== undefined) return cached
      const bytes = Buffer.alloc(sizeBytes)
      const content = bytes.subarray(0, await file.read(bytes, 0))
      const version = createHash('sha256').update(content).digest('hex').slice(0, 8)
      const cues = parseSubtitles(content, format)
      if (cues.length === 0) return undefined
      const track = { cues, version, isDefault: false, ...(language && { language }) }
      this.#subtitles.set(key, track, { size: sizeBytes + 1 })
      return track
    } finally {
      await file.close()
    }
  }
}

/** The subtitle files of a recording among the names of its folder. */
export function findSubtitles(names: readonly string[], base: string): FoundFile[] {
  const files = names.toSorted(compareNatural).flatMap((name): FoundFile[] => {
    const ending = name.startsWith(base) ? ENDING.exec(name.slice(base.length)) : null
    const { language, format = '' } = ending?.groups ?? {}
    if (ending === null) return []
    return [{ name, language, format: format.toLowerCase() === 'vtt' ? 'vtt' : 'srt' }]
  })
  return files.slice(0, MAX_SUBTITLES)
}
