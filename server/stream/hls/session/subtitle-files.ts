// Subtitle files next to a recording: `name.vtt`, `name.de.srt`.
import { LRUCache } from 'lru-cache'
import { compareNatural } from '../../../library/catalog/names/ordering.ts'
import { joinPath } from '../../../storage/recordings/library-path.ts'
import { isAppError } from '../../../base/errors.ts'
import { MAX_SUBTITLE_FILE_BYTES } from '../../../media/index/read-subtitles.ts'
import type { ReadSubtitles, SubtitleFile } from '../../../media/index/read-subtitles.ts'
import type { FileStat, Storage } from '../../../storage/recordings/storage.ts'
import type { SubtitleSidecar } from '../playlist/renditions.ts'

/** New files are found after this time. */
const FOLDER_TTL_MS = 5000
const MAX_FOLDERS = 256
const MAX_SUBTITLES = 32
/** Files of one recording together: those of a few recordings fit into the cache. */
const MAX_RECORDING_BYTES = 16 * 1024 * 1024
/** Memory of the parsed files. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024
/** Memory of a file and of a cue without its text. */
const FILE_BYTES = 512
const CUE_BYTES = 96

const ENDING = /^(?:\.(?<language>[a-z]{2,3}(?:-[a-z0-9]{2,8})*))?\.(?<format>vtt|srt)$/i

interface FoundFile {
  name: string
  language: string | undefined
  format: SubtitleFile['format']
}

/** A file as it is now. */
interface StatedFile extends Omit<FoundFile, 'name'> {
  path: string
  stat: FileStat
}

export interface SubtitleFilesOptions {
  storage: Pick<Storage, 'list' | 'stat'>
  /** Parses a file off the event loop, as `readSubtitles`, when there is room for it. */
  readSubtitles: (file: SubtitleFile) => Promise<ReadSubtitles>
}

/** Subtitle files of recordings. Each version is read once, however many requests need it. */
export class SubtitleFiles {
  readonly #options: SubtitleFilesOptions
  readonly #folders = new LRUCache<string, Promise<string[]>>({
    max: MAX_FOLDERS,
    ttl: FOLDER_TTL_MS,
  })
  readonly #subtitles = new LRUCache<string, Promise<ReadSubtitles>>({ maxSize: MAX_CACHED_BYTES })

  constructor(options: SubtitleFilesOptions) {
    this.#options = options
  }

  /** The files of the recording at `path`, in natural order. Leaves out unreadable files. */
  async find(path: string): Promise<SubtitleSidecar[]> {
    const slash = path.lastIndexOf('/')
    const folder = path.slice(0, Math.max(slash, 0))
    const base = path.slice(slash + 1).replace(/\.[^.]*$/, '')
    const files = findSubtitles(await this.#names(folder), base)
    const found = await Promise.all(files.map(async (file) => this.#stat(folder, file)))
    let leftBytes = MAX_RECORDING_BYTES
    const admitted = found.flatMap((file) => {
      const isAdmitted = file !== undefined && file.stat.sizeBytes <= leftBytes
      leftBytes -= isAdmitted ? file.stat.sizeBytes : 0
      return isAdmitted ? [file] : []
    })
    const subtitles = await Promise.all(admitted.map(async (file) => this.#read(file)))
    return subtitles.filter((track) => track !== undefined)
  }

  async #names(folder: string): Promise<string[]> {
    const cached = this.#folders.get(folder)
    if (cached !== undefined) return cached
    const names = this.#options.storage
      .list(folder)
      .then((entries) => entries.filter(({ kind }) => kind === 'file').map(({ name }) => name))
    this.#folders.set(folder, names)
    names.catch(() => this.#folders.delete(folder))
    return names
  }

  async #stat(folder: string, { name, ...found }: FoundFile): Promise<StatedFile | undefined> {
    const path = joinPath(folder, name)
    const stat = await this.#options.storage.stat(path).catch(withoutUnreadable)
    const isSmall = stat !== undefined && stat.sizeBytes <= MAX_SUBTITLE_FILE_BYTES
    return isSmall ? { ...found, path, stat } : undefined
  }

  async #read(file: StatedFile): Promise<SubtitleSidecar | undefined> {
    const key = `${file.stat.version} ${file.path}`
    const read = this.#subtitles.get(key) ?? this.#start(key, file)
    const parsed = await read.catch(withoutUnreadable)
    if (parsed === undefined || parsed.cues.length === 0) return undefined
    const { language } = file
    return { ...parsed, isDefault: false, ...(language && { language }) }
  }

  #start(key: string, { path, format, stat }: StatedFile): Promise<ReadSubtitles> {
    const read = this.#options.readSubtitles({ path, format })
    this.#subtitles.set(key, read, { size: FILE_BYTES + stat.sizeBytes })
    const isCached = (): boolean => this.#subtitles.peek(key) === read
    read.then(
      (parsed) => isCached() && this.#subtitles.set(key, read, { size: memoryBytes(parsed) }),
      () => isCached() && this.#subtitles.delete(key),
    )
    return read
  }
}

function memoryBytes({ cues }: ReadSubtitles): number {
  return cues.reduce((sum, { text }) => sum + CUE_BYTES + 2 * text.length, FILE_BYTES)
}

/** Files that are gone or not readable are left out. */
function withoutUnreadable(error: unknown): undefined {
  if (!isAppError(error, 'not_found', 'failed')) throw error
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
