// A folder that is one session: parts that are played in name order, or a playlist that a recorder wrote.
import type { StorageEntry } from '../storage/storage.ts'
import { recordingExtension } from './layout.ts'
import { compareNatural } from './ordering.ts'

/** What a session's folder holds. Names are as the storage spells them. */
export type SessionFolder =
  | { kind: 'parts'; names: readonly string[] }
  | { kind: 'playlist'; name: string }

/** Names that recorders give to the playlist to begin with, best first, where there are several. */
const USUAL_PLAYLISTS = ['master.m3u8', 'playlist.m3u8', 'index.m3u8']

/** What the entries of a folder make it; undefined where it holds neither parts nor a playlist. */
export function readSessionFolder(entries: readonly StorageEntry[]): SessionFolder | undefined {
  const names = entries
    .filter(({ kind }) => kind === 'file')
    .map(({ name }) => name)
    .toSorted(compareNatural)
  const playlists = names.filter((name) => name.toLowerCase().endsWith('.m3u8'))
  const usual = USUAL_PLAYLISTS.find((name) => playlists.includes(name))
  const playlist = usual ?? playlists[0]
  if (playlist !== undefined) return { kind: 'playlist', name: playlist }
  const parts = names.filter((name) => recordingExtension(name) !== undefined)
  return parts.length === 0 ? undefined : { kind: 'parts', names: parts }
}
