// `npm run check`: every gate that needs no build and no browser, as many at the same time as there
// are processors.
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { npmProgram, root } from './prepare.mjs'

/** Scripts of package.json, the longest first. */
const gates = ['lint', 'types', 'knip', 'format:check', 'links', 'style']

const failed = await runAll()
process.stdout.write(failed.length === 0 ? 'all gates passed\n' : `failed: ${failed.join(', ')}\n`)
process.exitCode = failed.length === 0 ? 0 : 1

async function runAll() {
  const waiting = [...gates]
  /** @type {string[]} */
  const failures = []
  const lanes = Array.from({ length: availableParallelism() }, async () => {
    for (let gate = waiting.shift(); gate !== undefined; gate = waiting.shift()) {
      if (!(await passes(gate))) failures.push(gate)
    }
  })
  await Promise.all(lanes)
  return failures
}

/**
 * Runs a gate and prints its output in one go when it ends.
 * @param {string} gate
 * @returns {Promise<boolean>}
 */
async function passes(gate) {
  const { program, first } = npmProgram()
  const startedMs = performance.now()
  const child = spawn(program, [...first, 'run', '--silent', gate], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  /** @type {Buffer[]} */
  const output = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (/** @type {Buffer} */ chunk) => void output.push(chunk))
  }
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  process.stdout.write(`── ${gate} ${code === 0 ? 'ok' : 'FAILED'}, ${seconds} s\n`)
  if (code !== 0) process.stdout.write(Buffer.concat(output))
  return code === 0
}
