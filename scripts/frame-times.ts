// Compares the time of every video frame of the recordings in a folder with FFmpeg's demuxer, and
// exits 1 for a difference without a known reason.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { AV_LOG_QUIET } from 'node-av/constants'
import { Log } from 'node-av/lib'
import { compareFrameTimes } from '../test/support/verify/frame-times.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const [folder] = positionals
if (folder === undefined) {
  console.error('Usage: npm run frame-times -- DIR')
  process.exit(2)
}
Log.setLevel(AV_LOG_QUIET)
const counts = new Map<string, number>()
const entries = await readdir(folder, { recursive: true, withFileTypes: true })
for (const entry of entries.filter((each) => each.isFile())) {
  const path = join(entry.parentPath, entry.name)
  const result = await compareFrameTimes(path)
  const isKnown = result.outcome === 'different' && result.reason !== undefined
  const outcome = isKnown ? 'known difference' : result.outcome
  counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  if (result.outcome === 'different') {
    console.log(`${path}: ${result.difference}${isKnown ? ` (${result.reason})` : ''}`)
  }
}
for (const [outcome, count] of counts) console.log(`${count} ${outcome}`)
if (counts.has('different')) process.exitCode = 1
