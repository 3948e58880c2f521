// Finds the chat files of a session, next to a recording or in a session folder. Tools and users
// choose their names, so a file counts by its start.
import { LRUCache } from 'lru-cache'
import type { Gate } from '../../base/admission/gate.ts'
import { isAppError } from '../../base/errors.ts'
import { joinPath, splitPath } from '../../storage/recordings/library-path.ts'
import type { FileStat, Storage, StorageEntry } from '../../storage/recordings/storage.ts'
import { compareNatural } from '../catalog/names/ordering.ts'
import { parseRecordingName } from '../catalog/names/recording-name.ts'
import { readSessionFolder } from '../catalog/names/session-folder.ts'
import { RecentResults } from './recent-results.ts'
import type { SidecarSource } from './sidecar-files.ts'

/** A chat file as it is now. */
export interface ChatFile {
  path: string
  stat: FileStat
  /** Name of the part in NFC, without its extension; undefined for all of a session. */
  part: string | undefined
}

export interface ChatFilesOptions {
  storage: Pick<Storage, 'list' | 'open'>
  /** Admits the files that are opened. */
  gate: Gate
  /** Whether a file is a chat, by its first bytes. */
  isChat(this: void, head: Uint8Array): boolean
}

/** Endings of files that may be a chat, by preference. */
const ENDINGS = ['.json', '.jsonl', '.xml', '.chatdump', '.gz', '.line', '.txt', '.log']
/** Sidecars of other kinds. */
const OTHERS = ['.info.json', 'streamer.json']
/** What separates the name of a recording from the rest of a file's name. */
const SEPARATOR = /^[ .\-_([]/
const HEAD_BYTES = 64 * 1024
/** Files of one recording that are opened. */
const MAX_CANDIDATES = 8
const MAX_KNOWN_FILES = 10_000

export class ChatFiles {
  readonly #options: ChatFilesOptions
  readonly #recent = new RecentResults<ChatFile[]>()
  /** Whether a file is a chat, by version and path. */
  readonly #known = new LRUCache<string, boolean>({ max: MAX_KNOWN_FILES })

  constructor(options: ChatFilesOptions) {
    this.#options = options
  }

  /**
   * One file for the session, or one for each part that has one; at most two seconds old.
   *
   * @throws AppError `busy` if too many files are read or storage is unavailable; the signal's
   *   reason
   */
  async find(source: SidecarSource, signal: AbortSignal): Promise<ChatFile[]> {
    return this.#recent.find(source.path, signal, async (all) => this.#find(source, all))
  }

  async #find({ path, kind }: SidecarSource, signal: AbortSignal): Promise<ChatFile[]> {
    const { folder, name } = splitPath(path) ?? { folder: '', name: path }
    const listed = kind === 'folder' ? path : folder
    const entries = await this.#list(listed, signal)
    const wanted = kind === 'folder' ? undefined : baseOf(name)
    const found: ChatFile[] = []
    for (const [part, candidates] of groupCandidates(entries, kind)) {
      if (wanted !== undefined && part !== wanted) continue
      const file = await this.#firstChat(listed, candidates, signal)
      if (file !== undefined) found.push({ ...file, part: wanted === undefined ? part : undefined })
    }
    const ofParts = found.filter(({ part }) => part !== undefined)
    return ofParts.length > 0 ? ofParts : found
  }

  async #list(folder: string, signal: AbortSignal): Promise<StorageEntry[]> {
    const isKnown = (name: string): boolean => !isCandidate(name)
    try {
      return await this.#options.storage.list(folder, { stats: true, isKnown, signal })
    } catch (error) {
      if (!isAppError(error, 'not_found', 'failed')) throw error
      return []
    }
  }

  async #firstChat(
    folder: string,
    candidates: readonly StorageEntry[],
    signal: AbortSignal,
  ): Promise<Omit<ChatFile, 'part'> | undefined> {
    for (const { name, stat } of candidates.toSorted(byPreference).slice(0, MAX_CANDIDATES)) {
      const path = joinPath(folder, name)
      if (stat !== undefined && (await this.#isChat(path, stat, signal))) return { path, stat }
    }
    return undefined
  }

  async #isChat(path: string, stat: FileStat, signal: AbortSignal): Promise<boolean> {
    const key = `${stat.version} ${path}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const { storage, gate, isChat } = this.#options
    try {
      const found = await gate.run(async () => {
        const file = await storage.open(path, { signal })
        try {
          const head = Buffer.alloc(Math.min(HEAD_BYTES, file.stat.sizeBytes))
          return isChat(head.subarray(0, await file.read(head, 0)))
        } finally {
          await file.close()
        }
      }, signal)
      this.#known.set(key, found)
      return found
    } catch (error) {
      if (!isAppError(error, 'not_found', 'gone', 'failed')) throw error
      return false
    }
  }
}

/**
 * The files that may be chats, by the recording whose name they begin with. In a session folder,
 * all others belong to the session.
 */
function groupCandidates(
  entries: readonly StorageEntry[],
  kind: SidecarSource['kind'],
): Map<string | undefined, StorageEntry[]> {
  const bases = new Set(
    entries
      .filter(({ name, kind: each }) => each === 'folder' || parseRecordingName(name) !== undefined)
      .map(({ name }) => baseOf(name)),
  )
  const hasParts = kind === 'file' || readSessionFolder(entries)?.kind === 'parts'
  const groups = new Map<string | undefined, StorageEntry[]>()
  const files = entries.filter((entry) => entry.kind === 'file' && isCandidate(entry.name))
  for (const entry of files.toSorted((a, b) => compareNatural(a.name, b.name))) {
    const base = hasParts ? longestBase(entry.name.normalize('NFC'), bases) : undefined
    if (base !== undefined || kind === 'folder') {
      groups.set(base, [...(groups.get(base) ?? []), entry])
    }
  }
  return groups
}

/** The name of a recording or folder, by which its chat files begin. */
export function baseOf(name: string): string {
  return (parseRecordingName(name)?.base ?? name).normalize('NFC')
}

/** `1-2.json` belongs to `1-2.ts` rather than to `1.ts`. */
function longestBase(name: string, bases: ReadonlySet<string>): string | undefined {
  for (let length = name.length - 1; length > 0; length -= 1) {
    if (SEPARATOR.test(name.slice(length, length + 1)) && bases.has(name.slice(0, length))) {
      return name.slice(0, length)
    }
  }
  return undefined
}

function isCandidate(name: string): boolean {
  const lower = name.toLowerCase()
  return (
    ENDINGS.some((ending) => lower.endsWith(ending)) && !OTHERS.some((end) => lower.endsWith(end))
  )
}

function byPreference(a: StorageEntry, b: StorageEntry): number {
  const rankOf = ({ name }: StorageEntry): number =>
    ENDINGS.findIndex((ending) => name.toLowerCase().endsWith(ending))
  return rankOf(a) - rankOf(b) || compareNatural(a.name, b.name)
}
