// A folder that is one session: parts that are played in name order, or a playlist that a recorder wrote.
import type { FileStat, Storage, StorageEntry } from '../../storage/storage.ts'
import { joinPath } from './library-path.ts'
import { compareNatural } from './ordering.ts'
import { parseRecordingName } from './recording-name.ts'

/** What a session's folder holds. Names are as the storage spells them. */
export type SessionFolder =
  | { kind: 'parts'; names: readonly string[] }
  | { kind: 'playlist'; name: string }

/** Names that recorders give to the playlist to begin with, best first, where there are several. */
const USUAL_PLAYLISTS = ['master.m3u8', 'playlist.m3u8', 'index.m3u8']

/**
 * What the entries of a folder make it; undefined where it holds neither parts nor a playlist. Of several files of one
 * part the best is taken. Folders inside count for nothing, nor do files that are known to be empty.
 */
export function readSessionFolder(entries: readonly StorageEntry[]): SessionFolder | undefined {
  const names = entries
    .filter(({ kind, stat }) => kind === 'file' && stat?.sizeBytes !== 0)
    .map(({ name }) => name)
    .toSorted(compareNatural)
  const playlists = names.filter((name) => name.toLowerCase().endsWith('.m3u8'))
  const usual = USUAL_PLAYLISTS.find((name) => playlists.includes(name))
  const playlist = usual ?? playlists[0]
  if (playlist !== undefined) return { kind: 'playlist', name: playlist }
  const parts = bestOfEachPart(names)
  return parts.length === 0 ? undefined : { kind: 'parts', names: parts }
}

/**
 * Size and time of the session that a folder is, by which a change is seen: of parts their sum and the newest, of a
 * playlist its own, as it is written anew with every segment. Undefined where the folder is no session.
 */
export async function statSessionFolder(
  storage: Storage,
  path: string,
): Promise<FileStat | undefined> {
  // thousands of segments beside a playlist are not asked for their stats
  const folder = readSessionFolder(await storage.list(path))
  if (folder?.kind === 'playlist') return storage.stat(joinPath(path, folder.name))
  if (folder === undefined) return undefined
  const entries = await storage.list(path, { stats: true })
  const parts = readSessionFolder(entries)
  const names = new Set(parts?.kind === 'parts' ? parts.names : [])
  const stats = entries.flatMap(({ name, stat }) => (stat && names.has(name) ? [stat] : []))
  return {
    sizeBytes: stats.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    modifiedMs: stats.reduce((newest, { modifiedMs }) => Math.max(newest, modifiedMs), 0),
  }
}

/** Names keep their order. */
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
