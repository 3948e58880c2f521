// What happens to the simulated cluster, at random: recorders write, operators hide, visitors are
// counted, and everything fails now and then.
import type { HiddenName } from '../../server/library/catalog/store/hidden.ts'
import { sessionOf } from './checks.ts'
import type { Cluster, Machine } from './cluster.ts'

const STREAMERS = ['alice', 'bob']
const DATES = ['2026-01-30', '2026-01-31']
const IDS = ['1', '2', '3']
const DAYS = ['2026-01-30', '2026-01-31']

type Happening = (cluster: Cluster) => unknown

/** What recorders, operators and visitors do. */
export const actions: Readonly<Record<string, Happening>> = {
  write: (cluster) => {
    const { recordings, options } = cluster
    const { draws } = options.world
    const path = drawPath(cluster)
    const known = recordings.find(path)?.numbers
    const added = Array.from({ length: 1 + draws.whole(3) }, () => draws.whole(1e6))
    if (known !== undefined && draws.chance(0.6))
      return recordings.write(path, [...known, ...added])
    // Recordings of one recorder often begin with equal bytes.
    const first = draws.chance(0.7) ? [0, 0, 0] : []
    return recordings.write(path, [...first, ...added])
  },
  remove: ({ recordings, options: { world } }) => {
    if (recordings.paths.length > 2) recordings.remove(world.draws.pick(recordings.paths))
  },
  view: async (cluster) => {
    const { draws } = cluster.options.world
    if (cluster.running.length === 0) return
    await cluster.view(draws.pick(cluster.running), sessionOf(drawPath(cluster)))
  },
  hide: async (cluster) => cluster.changeHidden('hide', drawName(cluster)),
  unhide: async (cluster) => {
    const { draws } = cluster.options.world
    const known = [...cluster.hidden.values()]
    const name = known.length > 0 ? draws.pick(known).name : drawName(cluster)
    return cluster.changeHidden('unhide', name)
  },
  count: (cluster) => {
    const { draws } = cluster.options.world
    const [node] = cluster.running
    if (node === undefined) return
    const session = { streamer: draws.pick(STREAMERS), date: draws.pick(DATES), sessionId: '1' }
    // Longer than PostgreSQL can store, of no session, and usual ones.
    const subject = draws.pick([
      session,
      { ...session, streamer: session.streamer.repeat(300) },
      { streamer: '', date: '', sessionId: '' },
    ])
    const kind = { name: 'begin_video', label: '', zone: '' } as const
    const count = { ...kind, ...subject, day: draws.pick(DAYS), amount: 1 + draws.whole(3) }
    cluster.count(draws.pick(cluster.running), count)
  },
}

/** Each ends by itself, at the latest when `endFaults` is called. */
export const faults: Readonly<Record<string, Happening>> = {
  kill: async (cluster) => {
    const machine = drawMachine(cluster)
    await cluster.kill(machine, 'closed')
    later(cluster, 15_000, () => cluster.start(machine))
  },
  power: async (cluster) => {
    const machine = drawMachine(cluster)
    await cluster.kill(machine, 'silent')
    later(cluster, 20_000, () => cluster.start(machine))
  },
  stop: (cluster) => {
    const machine = drawMachine(cluster)
    void cluster.stop(machine).then(() => {
      later(cluster, 5000, () => cluster.start(machine))
    })
  },
  pause: (cluster) => {
    const { world } = cluster.options
    const actor = drawMachine(cluster).node?.actor
    if (actor === undefined) return
    const untilMs = world.nowMs + world.draws.unit() * 30_000
    // What a longer pause has put off stays there.
    actor.pausedUntilMs = Math.max(actor.pausedUntilMs, untilMs)
  },
  cut: (cluster) => {
    const { shared, world } = cluster.options
    const name = drawClient(cluster)
    shared.cut(name, { isSilent: world.draws.chance(0.5) })
    later(cluster, 20_000, () => shared.heal(name))
  },
  slow: (cluster) => {
    const { shared } = cluster.options
    const name = drawClient(cluster)
    shared.slowDown(name)
    later(cluster, 20_000, () => shared.heal(name))
  },
  reset: async (cluster) => cluster.options.shared.reset(drawClient(cluster)),
  restart: async (cluster) => {
    const { shared } = cluster.options
    if (!shared.isUp) return
    await shared.stop()
    later(cluster, 10_000, () => shared.start())
  },
  /** A backup is restored while the server runs. */
  restore: async (cluster) => {
    const { backup, shared } = cluster.options
    await backup.take()
    later(cluster, 15_000, async () => {
      await shared.disconnectAll()
      if (await backup.restore()) await cluster.expectHiddenOfDatabase()
    })
  },
  /** A standby that has missed the last changes takes over. */
  standby: async (cluster) => {
    const { backup, shared } = cluster.options
    await backup.take()
    later(cluster, 5000, async () => {
      await shared.stop()
      if (await backup.restore()) await cluster.expectHiddenOfDatabase()
      shared.start()
    })
  },
  drop: async (cluster) => {
    const { backup, shared } = cluster.options
    await shared.disconnectAll()
    cluster.expectHiddenOfNodes()
    await backup.drop()
    later(cluster, 5000, async () => createTables(cluster))
  },
  mount: (cluster) => {
    const { draws } = cluster.options.world
    const machine = drawMachine(cluster)
    machine.mount.change(draws.pick(['empty', 'hanging']))
    later(cluster, 30_000, () => machine.isUnmounted || machine.mount.change('good'))
  },
  /** The mount of one node never comes back. */
  unmount: ({ machines, options }) => {
    const { draws } = options.world
    const good = machines.filter(({ mount }) => mount.state === 'good')
    if (good.length < machines.length) return
    const machine = draws.pick(machines)
    machine.isUnmounted = true
    machine.mount.change(draws.pick(['empty', 'hanging']))
  },
  clock: (cluster) => {
    const { draws } = cluster.options.world
    const machine = drawMachine(cluster)
    machine.skewMs = draws.between(-3_600_000, 3_600_000)
    if (machine.node !== undefined) machine.node.actor.skewMs = machine.skewMs
  },
  upgrade: async (cluster) => {
    const { backup } = cluster.options
    await backup.upgrade().catch(() => undefined)
    later(cluster, 60_000, async () => backup.downgrade().catch(() => undefined))
  },
}

/** All faults end; every machine runs. */
export async function endFaults(cluster: Cluster): Promise<void> {
  const { shared, backup } = cluster.options
  if (!shared.isUp) shared.start()
  await createTables(cluster)
  await backup.downgrade()
  for (const machine of cluster.machines) {
    shared.heal(machine.name)
    if (!machine.isUnmounted) machine.mount.change('good')
    cluster.start(machine)
  }
  shared.heal('operator')
}

async function createTables({ options: { backup, shared } }: Cluster): Promise<void> {
  await shared.disconnectAll()
  // Refused if a newer release has added its steps.
  await backup.create().catch(() => undefined)
}

function later(cluster: Cluster, limitMs: number, run: Happening): void {
  const { world } = cluster.options
  const end = async (): Promise<unknown> => run(cluster)
  world.afterAs(world.outside, world.draws.unit() * limitMs, { label: 'end of fault', run: end })
}

/** Some recordings are written and viewed much more often than others. */
function drawPath({ options }: Cluster): string {
  const { draws } = options.world
  const at = Math.floor(draws.unit() ** 2 * STREAMERS.length * DATES.length * IDS.length)
  const id = IDS[Math.floor(at / STREAMERS.length / DATES.length)]
  const date = DATES[Math.floor(at / STREAMERS.length) % DATES.length]
  return `${STREAMERS[at % STREAMERS.length]}/${date}/${id}.ts`
}

function drawMachine({ machines, options }: Cluster): Machine {
  return options.world.draws.pick(machines)
}

/** A node, or the command of an operator. */
function drawClient({ machines, options }: Cluster): string {
  return options.world.draws.pick([...machines.map(({ name }) => name), 'operator'])
}

function drawName({ recordings, options }: Cluster): HiddenName {
  const { draws } = options.world
  if (recordings.paths.length === 0 || draws.chance(0.2)) {
    return { kind: 'streamer', streamer: draws.pick(STREAMERS) }
  }
  return { kind: 'session', ...sessionOf(draws.pick(recordings.paths)) }
}
