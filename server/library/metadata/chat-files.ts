// Finds the chat files of a session, next to a recording or in a session folder. Tools and users
// choose their names, so a file counts by its start.
import { LRUCache } from 'lru-cache'
import { closingAsync } from '../../base/closing.ts'
import type { Gate } from '../../base/admission/gate.ts'
import { isAppError } from '../../base/errors.ts'
import { joinPath, splitPath } from '../../storage/recordings/library-path.ts'
import type { FileStat, Storage, StorageEntry } from '../../storage/recordings/storage.ts'
import { parseRecordingName } from '../catalog/names/recording-name.ts'
import { RecentResults } from './recent-results.ts'
import type { SidecarSource } from './sidecar-files.ts'

/** A chat file as it is now. */
export interface ChatFile {
  path: string
  stat: FileStat
  /** `chatBase` of the part's name; undefined for all of a session. */
  part: string | undefined
}

export interface ChatFilesOptions {
  storage: Pick<Storage, 'list' | 'open' | 'stat'>
  /** Admits the files that are opened. */
  gate: Gate
  /** Whether a file is a chat, by its first bytes. */
  isChat(this: void, head: Uint8Array): boolean
}

/** Endings of files that may be a chat, by preference. */
const ENDINGS = [
  '.json',
  '.jsonl',
  '.xml',
  '.chatdump',
  '.gz',
  '.line',
  '.txt',
  '.log',
  // While yt-dlp records.
  '.json.part',
]
/** Sidecars of other kinds. */
const OTHERS = ['.info.json', 'streamer.json']
/** What separates the name of a recording from the rest of a file's name. */
const SEPARATOR = /^[ .\-_([]/
/** Ganymede and LiveStreamDVR add these to the names of recordings, and of videos of their chat. */
const VIDEO_MARK = /[-_](?:video|video_hls|vod)$/
const CHAT_MARKS = ['-chat', '_chat']
const HEAD_BYTES = 64 * 1024
/** Files of one recording that are opened. */
const MAX_CANDIDATES = 8
const MAX_KNOWN_FILES = 10_000

/** Bases of recordings and folders. */
interface Bases {
  /** As keys. */
  names: Record<string, true>
  /** Each once, the longest first: far fewer than names. */
  lengths: number[]
}

/** The names in a folder. */
interface FolderNames {
  /** Of files that may be chats. */
  names: string[]
  bases: Bases
  hasPlaylist: boolean
}

export class ChatFiles {
  readonly #options: ChatFilesOptions
  readonly #recent = new RecentResults<ChatFile[]>()
  readonly #folders = new RecentResults<FolderNames>()
  /** Whether a file is a chat, by version and path. */
  readonly #known = new LRUCache<string, boolean>({ max: MAX_KNOWN_FILES })

  constructor(options: ChatFilesOptions) {
    this.#options = options
  }

  /**
   * One file for the session, or one for each part that has one; at most four seconds old.
   *
   * @throws AppError `busy` if too many files are read or storage is unavailable; the signal's
   *   reason
   */
  async find(source: SidecarSource, signal: AbortSignal): Promise<ChatFile[]> {
    return this.#recent.find(source.path, signal, async (all) => this.#find(source, all))
  }

  async #find({ path, kind }: SidecarSource, signal: AbortSignal): Promise<ChatFile[]> {
    const inside = kind === 'folder' ? await this.#findInside(path, signal) : []
    if (inside.length > 0) return inside
    const { folder, name } = splitPath(path) ?? { folder: '', name: path }
    const base = chatBase(name)
    const { names, bases } = await this.#list(folder, signal)
    const own = names.filter((each) => {
      const normalized = each.normalize('NFC')
      return normalized.startsWith(base) && longestBase(normalized, bases) === base
    })
    return this.#firstChat(folder, own, { part: undefined, signal })
  }

  async #findInside(folder: string, signal: AbortSignal): Promise<ChatFile[]> {
    const { names, bases, hasPlaylist } = await this.#list(folder, signal)
    const groups = Map.groupBy(names, (name) =>
      hasPlaylist ? undefined : longestBase(name.normalize('NFC'), bases),
    )
    const found: ChatFile[] = []
    for (const [part, own] of groups) {
      found.push(...(await this.#firstChat(folder, own, { part, signal })))
    }
    const ofParts = found.filter(({ part }) => part !== undefined)
    return ofParts.length > 0 ? ofParts : found
  }

  async #list(folder: string, signal: AbortSignal): Promise<FolderNames> {
    return this.#folders.find(folder, signal, async (all) => {
      try {
        return namesIn(await this.#options.storage.list(folder, { signal: all }))
      } catch (error) {
        if (!isAppError(error, 'not_found', 'failed')) throw error
        return namesIn([])
      }
    })
  }

  /** None or one. */
  async #firstChat(
    folder: string,
    names: readonly string[],
    { part, signal }: { part: string | undefined; signal: AbortSignal },
  ): Promise<ChatFile[]> {
    for (const name of byPreference(names).slice(0, MAX_CANDIDATES)) {
      const path = joinPath(folder, name)
      const stat = await this.#statChat(path, signal)
      if (stat !== undefined) return [{ path, stat, part }]
    }
    return []
  }

  /** Undefined if the file is no chat, or cannot be read. */
  async #statChat(path: string, signal: AbortSignal): Promise<FileStat | undefined> {
    const { storage, gate } = this.#options
    try {
      const stat = await storage.stat(path, { signal })
      const key = `${stat.version} ${path}`
      const isChat =
        this.#known.get(key) ?? (await gate.run(async () => this.#readHead(path, signal), signal))
      this.#known.set(key, isChat)
      return isChat ? stat : undefined
    } catch (error) {
      if (!isAppError(error, 'not_found', 'gone', 'failed')) throw error
      return undefined
    }
  }

  async #readHead(path: string, signal: AbortSignal): Promise<boolean> {
    const file = await this.#options.storage.open(path, { signal })
    await using _closing = closingAsync(file)
    const head = Buffer.alloc(Math.min(HEAD_BYTES, file.stat.sizeBytes))
    return this.#options.isChat(head.subarray(0, await file.read(head, 0)))
  }
}

function namesIn(entries: readonly StorageEntry[]): FolderNames {
  const bases: Bases['names'] = Object.create(null)
  const names: string[] = []
  const marked: string[] = []
  for (const { name, kind } of entries) {
    if (kind === 'file' && isCandidate(name)) names.push(name)
    else if (kind === 'folder' || parseRecordingName(name) !== undefined) {
      const base = chatBase(name)
      bases[base] = true
      if (base !== baseOf(name)) marked.push(base)
    }
  }
  // Videos of the chat, which is that of the recording.
  for (const base of marked) for (const mark of CHAT_MARKS) delete bases[base + mark]
  const hasPlaylist = entries.some(({ name }) => name.toLowerCase().endsWith('.m3u8'))
  const lengths = new Set(Object.keys(bases).map(({ length }) => length))
  return {
    names,
    bases: {
      names: bases,
      lengths: [...lengths].filter((length) => length > 0).toSorted((a, b) => b - a),
    },
    hasPlaylist,
  }
}

function baseOf(name: string): string {
  return (parseRecordingName(name)?.base ?? name).normalize('NFC')
}

/** How the names of the chat files of a recording or folder begin. */
export function chatBase(name: string): string {
  return baseOf(name).replace(VIDEO_MARK, '')
}

/** `1-2.json` belongs to `1-2.ts` rather than to `1.ts`. */
function longestBase(name: string, { names, lengths }: Bases): string | undefined {
  const length = lengths.find(
    (each) => SEPARATOR.test(name.charAt(each)) && name.slice(0, each) in names,
  )
  return length === undefined ? undefined : name.slice(0, length)
}

function isCandidate(name: string): boolean {
  const lower = name.toLowerCase()
  return (
    ENDINGS.some((ending) => lower.endsWith(ending)) && !OTHERS.some((end) => lower.endsWith(end))
  )
}

function byPreference(names: readonly string[]): string[] {
  const sorted = names.toSorted()
  return ENDINGS.flatMap((ending) => sorted.filter((name) => name.toLowerCase().endsWith(ending)))
}
