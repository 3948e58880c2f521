// Session folders: parts that are played in name order, or a playlist written by a recorder.
import { createHash } from 'node:crypto'
import { isAppError } from '../../errors.ts'
import type { FileStat, Storage, StorageEntry } from '../../storage/storage.ts'
import { joinPath } from './library-path.ts'
import { compareNatural } from './ordering.ts'
import { parseRecordingName } from './recording-name.ts'

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

/**
 * The stat by which changes to a session folder are detected: of all parts together, or of its
 * playlist, which is rewritten with every segment. Undefined if the folder is no session.
 */
export async function statSessionFolder(
  storage: Storage,
  path: string,
): Promise<FileStat | undefined> {
  // A playlist may have thousands of segments: do not stat them.
  const listed = await storage.list(path)
  const folder = readSessionFolder(listed)
  if (folder?.kind === 'playlist') {
    const playlist = listed.find(({ name }) => name === folder.name)
    return playlist?.stat ?? storage.stat(joinPath(path, folder.name))
  }
  if (folder === undefined) return undefined
  const hasStats = listed.every(({ kind, stat }) => kind === 'folder' || stat !== undefined)
  const entries = hasStats ? listed : await storage.list(path, { stats: true })
  const parts = readSessionFolder(entries)
  const names = new Set(parts?.kind === 'parts' ? parts.names : [])
  const found = entries.filter(({ name }) => names.has(name))
  const stats = found.flatMap(({ stat }) => stat ?? [])
  const versions = found.map(({ name, stat }) => JSON.stringify([name, stat?.version])).toSorted()
  return {
    version: createHash('sha256').update(versions.join('\n')).digest('base64url'),
    sizeBytes: stats.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    modifiedMs: stats.reduce((newest, { modifiedMs }) => Math.max(newest, modifiedMs), 0),
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
