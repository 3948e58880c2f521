// The simulated cluster of one seed: nodes, their database, and what operators, recorders and
// visitors have done to it so far.
import { migrateSharedDatabase } from '../../server/cluster/postgres/migrations.ts'
import { openSharedDatabase } from '../../server/cluster/postgres/shared-database.ts'
import type { SharedDatabase } from '../../server/cluster/postgres/shared-database.ts'
import { sharedHiddenNames } from '../../server/app/cluster/shared-hidden-names.ts'
import { nameOf, rowOf } from '../../server/library/catalog/store/hidden.ts'
import type { HiddenName } from '../../server/library/catalog/store/hidden.ts'
import { formatName } from '../../server/site/operator/format.ts'
import type { DailyCount } from '../../server/site/analytics/activity-store.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { startNode } from './cluster-node.ts'
import type { RunningNode } from './cluster-node.ts'
import type { DatabaseServer } from './database-server.ts'
import { ROOT } from './memory-files.ts'
import type { MemoryFiles } from './memory-files.ts'
import { Recordings } from './recordings.ts'
import type { Mount } from './recordings.ts'
import type { SharedBackup } from './shared-backup.ts'
import type { SharedServer } from './shared-server.ts'
import type { Actor } from './actor.ts'
import type { World } from './world.ts'

export interface ClusterOptions {
  world: World
  server: DatabaseServer
  shared: SharedServer
  backup: SharedBackup
  files: MemoryFiles
}

/** A machine: its files stay when its process ends. */
export interface Machine {
  name: string
  mount: Mount
  skewMs: number
  /** Its mount does not come back when faults end. */
  isUnmounted: boolean
  node: RunningNode | undefined
}

/** What an operator may expect of a name that is hidden. */
export interface ExpectedHidden {
  name: HiddenName
  sinceMs: number
  /** Machines that have applied it. */
  appliedOn: Set<string>
  /** Machines that may still hide it from before: they may show it until they read it again. */
  staleOn: Set<string>
}

export class Cluster {
  readonly options: ClusterOptions
  readonly recordings: Recordings
  readonly machines: Machine[] = []
  readonly #stopping = new WeakSet<RunningNode>()
  /** By `keyOfName`. */
  readonly hidden = new Map<string, ExpectedHidden>()
  /** Increments by day and name. */
  readonly counted = new Map<string, number>()
  /** The database has lost what it had acknowledged. */
  hasLost = false
  /** A URL with two byte sequences. */
  broken: string | undefined
  /** By URL, for ever. */
  readonly #served = new Map<string, { hash: string; node: string }>()
  /** Names whose last change has no response. */
  readonly #uncertain = new Set<string>()
  /** Names whose change may still get a response. */
  readonly #changing = new Set<string>()
  readonly #operator: Actor
  readonly #operatorDatabase: SharedDatabase

  constructor(options: ClusterOptions) {
    const { world } = options
    this.options = options
    this.recordings = new Recordings(world)
    this.#operator = world.createActor('operator')
    this.#operatorDatabase = world.as(this.#operator, () =>
      openSharedDatabase('postgres://operator/aftercast', () => undefined),
    )
  }

  get urls(): number {
    return this.#served.size
  }

  /** Those that visitors can reach: a process that is stopped closes its listener at once. */
  get running(): RunningNode[] {
    return this.machines.flatMap(({ node }) =>
      node === undefined || this.#stopping.has(node) ? [] : [node],
    )
  }

  addMachine(name: string, skewMs: number): Machine {
    const mount = this.recordings.mount()
    const state = { isUnmounted: false, node: undefined }
    const machine = { name, mount, skewMs, ...state }
    this.machines.push(machine)
    return machine
  }

  start(machine: Machine): void {
    if (machine.node !== undefined) return
    const { name, mount, skewMs } = machine
    machine.node = startNode({ world: this.options.world, name, mount, skewMs })
  }

  /** The process ends at once: `closed` as by a signal, `silent` with its machine. */
  async kill(machine: Machine, how: 'closed' | 'silent'): Promise<void> {
    const { node, name } = machine
    machine.node = undefined
    if (node === undefined) return
    node.kill()
    await this.options.shared.lose(name, how)
    if (how === 'silent') this.options.files.losePower(`${ROOT}/${name}`)
  }

  /** Nothing if the process already ends, or was ended meanwhile. */
  async stop(machine: Machine): Promise<void> {
    const { node } = machine
    if (node === undefined || this.#stopping.has(node)) return
    this.#stopping.add(node)
    await node.stop()
    if (machine.node === node) machine.node = undefined
  }

  /** An operator hides or shows a name; the response may be lost. */
  async changeHidden(action: 'hide' | 'unhide', name: HiddenName): Promise<void> {
    const { world } = this.options
    const key = keyOfName(name)
    if (this.#uncertain.has(key)) return
    // Until the response, either may be true; without one, a change may arrive much later.
    this.#uncertain.add(key)
    this.#changing.add(key)
    if (action === 'unhide') this.hidden.delete(key)
    await world.as(this.#operator, async () => {
      const names = sharedHiddenNames(this.#operatorDatabase, () => world.wallMs())
      try {
        // As every command does.
        await migrateSharedDatabase(this.#operatorDatabase)
        await names[action](name, '')
      } catch {
        this.hidden.delete(key)
        return
      } finally {
        this.#changing.delete(key)
      }
      this.#uncertain.delete(key)
      if (action === 'hide' && !this.hidden.has(key)) {
        this.#expectHidden(name)
      }
    })
  }

  /** The database has become an older one: what it has is expected, but what operators change. */
  async expectHiddenOfDatabase(): Promise<void> {
    this.hasLost = true
    this.hidden.clear()
    for (const name of await readHidden(this.options.server)) {
      if (!this.#changing.has(keyOfName(name))) this.#expectHidden(name)
    }
  }

  #expectHidden(name: HiddenName): void {
    const stale = this.machines.filter(({ node }) => node === undefined || hides(node, name))
    this.hidden.set(keyOfName(name), {
      name,
      sinceMs: this.options.world.nowMs,
      appliedOn: new Set(),
      staleOn: new Set(stale.map((machine) => machine.name)),
    })
  }

  /** The database is empty: it gets the names of the node that scans first. */
  expectHiddenOfNodes(): void {
    this.hasLost = true
    for (const [key, { appliedOn }] of this.hidden) {
      if (!this.machines.every(({ name }) => appliedOn.has(name))) this.hidden.delete(key)
    }
  }

  /** A visitor requests a session; what caches get must never change. */
  async view(node: RunningNode, session: SessionReference): Promise<void> {
    const { world } = this.options
    const found = await world.as(node.actor, async () => node.view(session))
    for (const [url, hash] of found) {
      const known = this.#served.get(url)
      if (known === undefined) this.#served.set(url, { hash, node: node.name })
      else if (known.hash !== hash) {
        this.broken ??= `${node.name} and ${known.node} have different bytes for ${url}`
      }
    }
  }

  count(node: RunningNode, count: DailyCount): void {
    node.count(count)
    const key = `${count.day} ${count.name}`
    this.counted.set(key, (this.counted.get(key) ?? 0) + count.amount)
  }

  /** Ends all processes without a trace. */
  dispose(): void {
    this.#operator.isAlive = false
    for (const node of this.running) node.kill()
  }
}

export async function readHidden(server: DatabaseServer): Promise<HiddenName[]> {
  const { rows } = await server.query(
    `SELECT streamer, date, session_id FROM aftercast.hidden WHERE removed_at IS NULL
     ORDER BY streamer, date, session_id`,
  )
  return rows.map((row) =>
    nameOf({
      streamer: String(row.streamer),
      date: String(row.date),
      sessionId: String(row.session_id),
    }),
  )
}

export function keyOfName(name: HiddenName): string {
  return formatName(rowOf(name))
}

/** Whether this name itself is hidden on the node. */
export function hides(node: RunningNode, name: HiddenName): boolean {
  return node.hiddenNames().some((one) => keyOfName(one) === keyOfName(name))
}
