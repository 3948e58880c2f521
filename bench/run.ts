// `npm run bench`: the benchmarks that are named, one after another. Prints what each returns, and
// fails where one has found a fault.
import { ensureBuilt } from '../scripts/prepare.mjs'
import { benchCatalog } from './catalog.ts'
import { benchClusterLibrary } from './cluster-library.ts'
import { benchCluster } from './cluster.ts'
import { benchKills } from './endurance/kills.ts'
import { runScenario } from './endurance/run-scenario.ts'
import { SCENARIOS } from './endurance/scenarios.ts'
import { Bench } from './harness.ts'
import { benchIndexNodes } from './index-nodes.ts'
import { benchCold, benchIndex } from './index.ts'
import { describeMachine } from './machine.ts'
import { readBenchOptions } from './options.ts'
import { benchPage } from './page.ts'
import { benchRenditions } from './renditions.ts'
import { benchSegments } from './segments.ts'

const SHOWN_FAULTS = 10

/** Each returns the lines of its tables. */
const benchmarks = {
  segments: benchSegments,
  renditions: benchRenditions,
  index: benchIndex,
  cold: benchCold,
  catalog: benchCatalog,
  'page-plays': benchPage,
  cluster: benchCluster,
  'cluster-library': benchClusterLibrary,
  'index-nodes': benchIndexNodes,
  viewers: async (bench: Bench) => runScenario(bench, SCENARIOS.viewers),
  clients: async (bench: Bench) => runScenario(bench, SCENARIOS.clients),
  outage: async (bench: Bench) => runScenario(bench, SCENARIOS.outage),
  upgrade: async (bench: Bench) => runScenario(bench, SCENARIOS.upgrade),
  kills: benchKills,
} as const satisfies Record<string, (bench: Bench) => Promise<string[]>>

type BenchName = keyof typeof benchmarks
const isBench = (name: string): name is BenchName => name in benchmarks

const { names, options } = readBenchOptions(
  process.argv.slice(2),
  Object.keys(benchmarks).filter(isBench),
)
await ensureBuilt()
for (const name of names) {
  await using bench = new Bench(options)
  const lines = await benchmarks[name](bench)
  for (const line of [`## ${name}`, '', ...describeMachine(), '', ...lines, '']) console.log(line)
  if (bench.faults.length === 0) continue
  throw new Error(bench.faults.slice(0, SHOWN_FAULTS).join('\n'))
}
