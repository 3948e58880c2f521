// The segments of a session: their paths, in an order that defeats read-ahead, and the same bytes
// as files for a static file server.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fetchBytes, fetchPlaylist } from '../test/support/servers/hls-client.ts'

/** Paths on the server of a playlist. */
export async function listSegments(playlistUrl: string): Promise<string[]> {
  const { segments } = await fetchPlaylist(playlistUrl)
  return segments.map(({ url }) => new URL(url).pathname)
}

/**
 * Writes segments to a folder below `root`, and returns their paths there. Files with the right
 * bytes are not rewritten: writing would disturb the next measurement.
 */
export async function cutSegments(
  { origin, paths }: { origin: string; paths: readonly string[] },
  root: string,
  name: string,
): Promise<string[]> {
  mkdirSync(path.join(root, name), { recursive: true })
  const files: string[] = []
  for (const [number, each] of paths.entries()) {
    const file = `/${name}/${number}${path.extname(each)}`
    keepBytes(path.join(root, file), await fetchBytes(origin + each))
    files.push(file)
  }
  return files
}

function keepBytes(file: string, bytes: Buffer): void {
  try {
    if (readFileSync(file).equals(bytes)) return
  } catch {
    // It does not exist yet.
  }
  rmSync(file, { force: true })
  writeFileSync(file, bytes)
}

/** The list in an order that defeats read-ahead: multiples of the golden ratio are never close. */
export function scatter<Item>(items: readonly Item[]): Item[] {
  const placed = items.map((item, at) => ({ item, place: (at * 0.618_034) % 1 }))
  return placed.toSorted((a, b) => a.place - b.place).map(({ item }) => item)
}
