// Runs benchmarks in smoke mode, which tests that they work and measures nothing.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'

const PROGRAM = path.resolve(import.meta.dirname, '../../../bench/run.ts')
const PAGE = path.resolve(import.meta.dirname, '../../../dist/web/index.html')

/**
 * Their output. Rejects with their errors if one fails, or if they built the page, which concurrent
 * tests serve.
 */
export async function runBench(names: readonly string[]): Promise<string> {
  const cache = await mkdtemp(path.join(tmpdir(), 'aftercast-bench-smoke-'))
  const before = await stat(PAGE)
  try {
    const child = spawn(process.execPath, [PROGRAM, ...names, '--smoke', '--cache', cache])
    const exited = once(child, 'exit')
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = await exited
    if (code !== 0) throw new Error(`the benchmarks ended with ${code}:\n${errors}`)
    const built = await stat(PAGE)
    if (built.mtimeMs !== before.mtimeMs) throw new Error('the benchmarks built the page')
    return output
  } finally {
    await rm(cache, { recursive: true, force: true })
  }
}
