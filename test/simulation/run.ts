// `npm run simulate`: a cluster for many seeds; reports those that break an invariant.
import { parseArgs } from 'node:util'
import { DatabaseServer } from './database-server.ts'
import { SharedBackup } from './shared-backup.ts'
import { simulateDriver } from './simulated-client.ts'
import type { Connected } from './simulated-client.ts'
import { simulateProcess } from './simulated-process.ts'
import type { Scenario, SimulationResult } from './simulate.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '30' },
    only: { type: 'string' },
    fault: { type: 'string' },
    replay: { type: 'string' },
    trace: { type: 'boolean', default: false },
    stop: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    ignore: { type: 'string', default: '' },
    verbose: { type: 'boolean', default: false },
  },
})

// It ends after the seed that runs, and removes what it has started.
let isStopped = false
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    isStopped = true
    process.exitCode = 1
  })
}
const first = Number(values.replay ?? values.seed)
const count = values.replay === undefined ? Number(values.seeds) : 1
// The modules of the product take their timers and files from the process when they are loaded.
const attach = simulateProcess()
const { createTemplate } = await import('./cluster-node.ts')
const { actions, faults } = await import('./faults.ts')
const { simulate } = await import('./simulate.ts')
const server = await DatabaseServer.start()
let connected: Connected | undefined
try {
  const backup = await SharedBackup.create(server)
  simulateDriver(() => connected)
  createTemplate()
  const connect = (next: Connected | undefined): void => {
    connected = next
  }
  const laboratory = { server, backup, attach, connect }
  const choose = (names: string | undefined, among: object): string[] =>
    names === undefined ? Object.keys(among) : names.split(',').filter((name) => name in among)
  const startedMs = performance.now()
  const cpuBefore = process.cpuUsage()
  let done = 0
  let failed = 0
  let steps = 0
  const seeds = Array.from({ length: count }, (_, at) => first + at)
  for (const seed of values.again ? [...seeds, first] : seeds) {
    if (isStopped) break
    const scenario: Scenario = {
      seed,
      actions: choose(values.only, actions),
      faults: choose(values.fault, faults),
      seconds: Number(values.seconds),
      ignored: values.ignore.split(','),
      trace: values.trace ? (line) => console.log(line) : undefined,
    }
    const result = await simulate(laboratory, scenario)
    done += 1
    steps += result.steps
    if (values.verbose || values.replay !== undefined) console.log(describe(result))
    if (result.violation === undefined) continue
    failed += 1
    if (!values.verbose && values.replay === undefined) console.log(describe(result))
    if (values.stop) break
  }
  const { user, system } = process.cpuUsage(cpuBefore)
  const seconds = (performance.now() - startedMs) / 1000
  const cpuMs = Math.round((user + system) / done / 1000)
  const speed = `${(done / seconds).toFixed(1)} seeds/s, ${cpuMs} ms of processor time each`
  console.log(`${done} seeds, ${failed} failed, ${steps} events, ${speed}`)
  if (failed > 0) process.exitCode = 1
} finally {
  await server.stop()
}

function describe(result: SimulationResult): string {
  const { seed, violation, traceHash, steps, urls, simulatedMs } = result
  const size = `${steps} events, ${urls} URLs, ${Math.round(simulatedMs)} ms`
  const line = `seed ${seed}: trace ${traceHash}, ${size}`
  if (violation === undefined) return line
  const detail = violation.detail.replaceAll('\n', '\n    ')
  return `${line}\n  at ${Math.round(violation.atMs)} ms: ${detail}`
}
