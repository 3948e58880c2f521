// Writes a session's segments to files, for a static file server: the same bytes as our responses.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fetchBytes, fetchPlaylist } from '../../test/support/servers/hls-client.ts'

/** Paths of the same segments on our server and in the folder of files, by number. */
export interface CutSegments {
  serverPaths: string[]
  filePaths: string[]
}

/** Files with the right bytes are not rewritten: writing would disturb the next measurement. */
export async function cutSegments(
  playlistUrl: string,
  root: string,
  name: string,
): Promise<CutSegments> {
  const { segments } = await fetchPlaylist(playlistUrl)
  mkdirSync(path.join(root, name), { recursive: true })
  const serverPaths = segments.map(({ url }) => new URL(url).pathname)
  const filePaths: string[] = []
  for (const [number, { url }] of segments.entries()) {
    const file = `/${name}/${number}${path.extname(url)}`
    keepBytes(path.join(root, file), await fetchBytes(url))
    filePaths.push(file)
  }
  return { serverPaths, filePaths }
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

/** The list in an order that defeats read-ahead: each step is about 0.38 of the list. */
export function scatter<Item>(items: Item[]): Item[] {
  let step = Math.max(1, Math.round(items.length * 0.382))
  while (greatestDivisor(step, items.length) > 1) step += 1
  return items.flatMap((_, at) => items.slice((at * step) % items.length).slice(0, 1))
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}
