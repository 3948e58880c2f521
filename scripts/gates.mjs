// Runs gates (scripts of package.json that pass or fail), as many at the same time as there are
// processors.
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { npmProgram, root } from './prepare.mjs'

/** @typedef {{ gate: string, isPassed: boolean, seconds: string }} GateResult */

/**
 * Starts them in this order; prints the output of those that fail when they end. A gate that takes
 * longer than `limitMs` has failed.
 * @param {readonly string[]} gates
 * @param {number} [limitMs]
 * @returns {Promise<GateResult[]>} in the given order
 */
export async function runGates(gates, limitMs) {
  const waiting = gates.entries()
  /** @type {GateResult[]} */
  const results = []
  const lanes = Array.from({ length: availableParallelism() }, async () => {
    for (const [index, gate] of waiting) results[index] = await runGate(gate, limitMs)
  })
  await Promise.all(lanes)
  return results
}

/**
 * @param {string} gate
 * @param {number | undefined} limitMs
 * @returns {Promise<GateResult>}
 */
async function runGate(gate, limitMs) {
  const { program, first } = npmProgram()
  const startedMs = performance.now()
  const child = spawn(program, [...first, 'run', '--silent', gate], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
  })
  /** @type {Buffer[]} */
  const output = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (/** @type {Buffer} */ chunk) => void output.push(chunk))
  }
  // Its own children may live on, with the other ends of the pipes.
  child.once('exit', (_code, signal) => {
    if (signal) for (const stream of [child.stdout, child.stderr]) stream.destroy()
  })
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  const isPassed = code === 0
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  process.stdout.write(`── ${gate} ${isPassed ? 'ok' : 'FAILED'}, ${seconds} s\n`)
  if (!isPassed) process.stdout.write(Buffer.concat(output))
  return { gate, isPassed, seconds }
}
