// Where the sidecars of sessions and streamers are.
import { joinPath, splitPath } from '../../storage/recordings/library-path.ts'
import { parseRecordingName } from '../catalog/names/recording-name.ts'
import { findPlaylist, firstPartBase } from '../catalog/names/session-folder.ts'
import type { Storage } from '../../storage/recordings/storage.ts'

/** A recording, or a folder with a session. */
export interface SidecarSource {
  path: string
  kind: 'file' | 'folder'
}

/** The path of a sidecar without its ending: `alice/2026-01-31/1001`. */
export function sidecarBase({ path, kind }: SidecarSource): string {
  const { folder, name } = splitPath(path) ?? { folder: '', name: path }
  if (kind === 'folder') return joinPath(path, name)
  return joinPath(folder, parseRecordingName(name)?.base ?? name)
}

/** The same of the first part of a session folder, in it; undefined if it has no parts. */
export async function findFirstPart(storage: Storage, path: string): Promise<string | undefined> {
  // The segments of a recorder's playlist, of which there may be thousands, are not listed.
  if ((await findPlaylist(storage, path)) !== undefined) return undefined
  const hasParts = firstPartBase(await storage.list(path)) !== undefined
  // Empty files are no parts.
  const base = hasParts ? firstPartBase(await storage.list(path, { stats: true })) : undefined
  return base === undefined ? undefined : joinPath(path, base)
}

/** The folder with the streamer's name, if the layout has one. */
export function streamerFolder({
  path,
  streamer,
}: {
  path: string
  streamer: string
}): string | undefined {
  const folders = path.split('/').slice(0, -1)
  const depth = folders.findIndex((name) => name.normalize('NFC') === streamer)
  return depth === -1 ? undefined : folders.slice(0, depth + 1).join('/')
}
