// One seed: a cluster with faults for a while, then without, until all nodes agree.
import { checkStep, findDifference, findLeftFolder, findMiscount, Violation } from './checks.ts'
import type { Invariant } from './checks.ts'
import { Cluster } from './cluster.ts'
import { TEMPLATE } from './cluster-node.ts'
import type { ClusterOptions } from './cluster.ts'
import type { DatabaseServer } from './database-server.ts'
import { actions, endFaults, faults } from './faults.ts'
import { MemoryFiles } from './memory-files.ts'
import { clearMemory } from './memory-sqlite.ts'
import type { SharedBackup } from './shared-backup.ts'
import { SharedServer } from './shared-server.ts'
import type { Connected } from './simulated-client.ts'
import type { Attach } from './simulated-process.ts'
import { World } from './world.ts'

/** Of a process that simulates. */
export interface Laboratory {
  server: DatabaseServer
  backup: SharedBackup
  attach: Attach
  connect: (connected: Connected | undefined) => void
}

export interface Scenario {
  seed: number
  /** Names in `actions` and `faults`. */
  actions: readonly string[]
  faults: readonly string[]
  /** How long faults begin. */
  seconds: number
  /** Invariants that are not checked, because they are known not to hold. */
  ignored: readonly string[]
  trace?: ((line: string) => void) | undefined
}

export interface SimulationResult {
  seed: number
  /** The first invariant that did not hold. */
  violation: { invariant: Invariant | 'no error'; detail: string; atMs: number } | undefined
  traceHash: string
  steps: number
  /** URLs of segments that visitors got. */
  urls: number
  simulatedMs: number
}

const ACTION_EVERY_MS = 700
/** Visitors come more often than recorders write. */
const VIEW = 'view'
const VIEW_EVERY_MS = 300
const FAULT_EVERY_MS = 5000
/** All nodes agree this long after the last fault, at the latest. */
const CONVERGENCE_MS = 90_000

export async function simulate(
  laboratory: Laboratory,
  scenario: Scenario,
): Promise<SimulationResult> {
  const { server, backup, attach, connect } = laboratory
  const { seed, trace } = scenario
  clearMemory(TEMPLATE)
  await server.releaseAll()
  await backup.reset()
  let cluster: Cluster | undefined
  const world = new World(seed, {
    onStep: (actor) => cluster && checkStep(cluster, actor),
    trace,
  })
  const files = new MemoryFiles(world)
  const shared = new SharedServer(world, server)
  attach({ world, files })
  connect({ world, shared })
  const options: ClusterOptions = { world, server, shared, backup, files }
  let violation: SimulationResult['violation']
  try {
    cluster = new Cluster(options)
    await play(cluster, scenario)
  } catch (error) {
    const invariant = error instanceof Violation ? error.invariant : 'no error'
    const detail = error instanceof Violation ? error.message : stackOf(error)
    violation = { invariant, detail, atMs: world.nowMs }
  } finally {
    cluster?.dispose()
    connect(undefined)
    attach(undefined)
    await server.releaseAll()
  }
  const { traceHash, steps, nowMs: simulatedMs } = world
  return { seed, violation, traceHash, steps, urls: cluster?.urls ?? 0, simulatedMs }
}

async function play(cluster: Cluster, { seconds, ...scenario }: Scenario): Promise<void> {
  const { world } = cluster.options
  const { draws } = world
  for (let count = 2 + draws.whole(5); count > 0; count -= 1) await actions.write?.(cluster)
  const count = 2 + draws.whole(2)
  for (let at = 1; at <= count; at += 1) {
    const machine = cluster.addMachine(`node-${at}`, draws.chance(0.2) ? draws.whole(60_000) : 0)
    world.after(draws.unit() * 3000, 'start', () => cluster.start(machine))
  }
  const untilMs = seconds * 1000
  const [views, others] = [[VIEW], scenario.actions.filter((name) => name !== VIEW)]
  const named = { among: actions, untilMs }
  if (others.length < scenario.actions.length) {
    repeat(cluster, { ...named, names: views, everyMs: VIEW_EVERY_MS })
  }
  repeat(cluster, { ...named, names: others, everyMs: ACTION_EVERY_MS })
  repeat(cluster, { names: scenario.faults, among: faults, everyMs: FAULT_EVERY_MS, untilMs })
  await world.run(untilMs)
  await converge(cluster, scenario.ignored)
}

interface Repeated {
  names: readonly string[]
  among: typeof actions
  everyMs: number
  untilMs: number
}

function repeat(cluster: Cluster, { names, among, everyMs, untilMs }: Repeated): void {
  const { world } = cluster.options
  const { draws } = world
  if (names.length === 0) return
  const next = (): void => {
    const delayMs = draws.unit() * 2 * everyMs
    if (world.nowMs + delayMs > untilMs) return
    const name = draws.pick(names)
    const run = async (): Promise<void> => {
      next()
      // An operator waits for the response, the world does not.
      const happened = among[name]?.(cluster)
      if (among !== actions) await happened
    }
    world.after(delayMs, name, run)
  }
  next()
}

function checkFolders(cluster: Cluster, ignored: readonly string[]): void {
  const left = ignored.includes('no folder is left') ? undefined : findLeftFolder(cluster)
  if (left !== undefined) throw new Violation('no folder is left', left)
}

async function converge(cluster: Cluster, ignored: readonly string[]): Promise<void> {
  const { world } = cluster.options
  await world.run(world.nowMs)
  await endFaults(cluster)
  const limitMs = world.nowMs + CONVERGENCE_MS
  for (;;) {
    await world.run(world.nowMs + 2000)
    const difference = await findDifference(cluster)
    const miscount = difference === undefined ? await findMiscount(cluster) : undefined
    if (miscount?.invariant === 'nothing is counted twice') {
      throw new Violation(miscount.invariant, miscount.detail)
    }
    if (difference === undefined && miscount === undefined) return checkFolders(cluster, ignored)
    if (world.nowMs < limitMs) continue
    if (difference !== undefined) throw new Violation('every node converges', difference)
    if (miscount !== undefined) throw new Violation(miscount.invariant, miscount.detail)
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
