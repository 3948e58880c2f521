// Session folders: parts that are played in name order, or a playlist written by a recorder.
import { createHash } from 'node:crypto'
import { AppError, isAppError } from '../../../base/errors.ts'
import type { FileStat, Storage, StorageEntry } from '../../../storage/recordings/storage.ts'
import { joinPath, splitPath } from '../../../storage/recordings/library-path.ts'
import { compareNatural } from './ordering.ts'
import { parseRecordingName } from './recording-name.ts'
import { isTextSidecar, listSidecars, signSidecars } from './text-sidecars.ts'

/** Contents of a session folder. Names are spelled as in storage. */
export type SessionFolder =
  | { kind: 'parts'; names: readonly string[] }
  | { kind: 'playlist'; name: string }

/** Usual names of a recorder's top-level playlist, by preference. */
const USUAL_PLAYLISTS = ['master.m3u8', 'playlist.m3u8', 'index.m3u8']

/**
 * Classifies the entries of a folder; undefined if it contains neither parts nor a playlist. Of
 * several files of one part, the preferred one is used. Subfolders and empty files are ignored.
 */
export function readSessionFolder(entries: readonly StorageEntry[]): SessionFolder | undefined {
  const names = entries
    .filter(({ kind, stat }) => kind === 'file' && stat?.sizeBytes !== 0)
    .map(({ name }) => name)
  // Before sorting: there may be many thousands of segments next to a playlist.
  const playlists = names.filter((name) => name.toLowerCase().endsWith('.m3u8'))
  const usual = USUAL_PLAYLISTS.find((name) => playlists.includes(name))
  const playlist = usual ?? playlists.toSorted(compareNatural)[0]
  if (playlist !== undefined) return { kind: 'playlist', name: playlist }
  const parts = bestOfEachPart(names.toSorted(compareNatural))
  return parts.length === 0 ? undefined : { kind: 'parts', names: parts }
}

/**
 * The playlist of a folder, if it has a usual name or else `known`, found without listing the
 * folder: there may be many thousands of segments next to it.
 */
export async function findPlaylist(
  storage: Pick<Storage, 'stat'>,
  path: string,
  known?: string,
): Promise<string | undefined> {
  for (const name of known === undefined ? USUAL_PLAYLISTS : [...USUAL_PLAYLISTS, known]) {
    try {
      await storage.stat(joinPath(path, name))
      return name
    } catch (error) {
      if (!isAppError(error, 'not_found')) throw error
    }
  }
  return undefined
}

/** A session folder as it is now. */
export interface SessionFolderState {
  /**
   * By which changes are detected: of all parts together, or of its playlist, which is rewritten
   * with every segment.
   */
  stat: FileStat
  /** Signature of its sidecars with text: named like the folder, or like the first part. */
  sidecars: string
}

/** Undefined if the folder is no session. */
export async function statSessionFolder(
  storage: Storage,
  path: string,
): Promise<SessionFolderState | undefined> {
  const ownBase = splitPath(path)?.name ?? ''
  // A playlist may have thousands of segments: do not stat them.
  const listed = await storage.list(path)
  const folder = readSessionFolder(listed)
  if (folder?.kind === 'playlist') {
    const wanted = listed.filter(
      ({ name }) => name === folder.name || (name.startsWith(ownBase) && isTextSidecar(name)),
    )
    const entries = await Promise.all(wanted.map(async (entry) => withStat(storage, path, entry)))
    const stat = entries.find(({ name }) => name === folder.name)?.stat
    if (stat === undefined) throw new AppError('not_found', 'the playlist was removed')
    return { stat, sidecars: signSidecars([ownBase], listSidecars(entries)) }
  }
  if (folder === undefined) return undefined
  const hasStats = listed.every(({ kind, stat }) => kind === 'folder' || stat !== undefined)
  const entries = hasStats ? listed : await storage.list(path, { stats: true })
  const parts = readSessionFolder(entries)
  const names = new Set(parts?.kind === 'parts' ? parts.names : [])
  const found = entries.filter(({ name }) => names.has(name))
  const stats = found.flatMap(({ stat }) => stat ?? [])
  const versions = found.map(({ name, stat }) => JSON.stringify([name, stat?.version])).toSorted()
  const stat = {
    version: createHash('sha256').update(versions.join('\n')).digest('base64url'),
    sizeBytes: stats.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    modifiedMs: stats.reduce((newest, { modifiedMs }) => Math.max(newest, modifiedMs), 0),
  }
  const firstBase = firstPartBase(entries)
  const bases = firstBase === undefined ? [ownBase] : [ownBase, firstBase]
  return { stat, sidecars: signSidecars(bases, listSidecars(entries)) }
}

/** The name of the first part without its extension; undefined for a folder without parts. */
export function firstPartBase(entries: readonly StorageEntry[]): string | undefined {
  const folder = readSessionFolder(entries)
  const [first] = folder?.kind === 'parts' ? folder.names : []
  return first === undefined ? undefined : (parseRecordingName(first)?.base ?? first)
}

/** A sidecar that was removed meanwhile has no stat. @throws what `stat` throws for the others */
async function withStat(
  storage: Storage,
  folder: string,
  entry: StorageEntry,
): Promise<StorageEntry> {
  if (entry.stat !== undefined) return entry
  try {
    return { ...entry, stat: await storage.stat(joinPath(folder, entry.name)) }
  } catch (error) {
    if (!isAppError(error, 'not_found')) throw error
    return entry
  }
}

/** Preserves the order of names. */
function bestOfEachPart(names: readonly string[]): string[] {
  const best = new Map<string, { name: string; rank: number }>()
  for (const name of names) {
    const parsed = parseRecordingName(name)
    if (parsed === undefined) continue
    const known = best.get(parsed.base)
    if (known === undefined || parsed.rank < known.rank) {
      best.set(parsed.base, { name, rank: parsed.rank })
    }
  }
  return [...best.values()].map(({ name }) => name)
}
