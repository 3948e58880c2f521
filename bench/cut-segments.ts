// Writes a session's segments into files, as a server of files would have them: the very bytes that ours answers.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fetchBytes, fetchPlaylist } from '../test/support/hls-client.ts'

/** Where the same segments are found on our server and below a folder of files, number by number. */
export interface CutSegments {
  serverPaths: string[]
  filePaths: string[]
}

/** Files that hold the right bytes already are left alone: writing would disturb what is measured next. */
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
    // It is not there yet.
  }
  rmSync(file, { force: true })
  writeFileSync(file, bytes)
}

/** The list in an order that no read-ahead expects: each step goes about 0.38 of the list on. */
export function scatter<Item>(items: Item[]): Item[] {
  let step = Math.max(1, Math.round(items.length * 0.382))
  while (greatestDivisor(step, items.length) > 1) step += 1
  return items.flatMap((_, at) => items.slice((at * step) % items.length).slice(0, 1))
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}
