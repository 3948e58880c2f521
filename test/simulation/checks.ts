// What must be true of the cluster: after every event, and once all faults have ended.
import { isAppError } from '../../server/base/errors.ts'
import type { Catalog } from '../../server/library/catalog/catalog.ts'
import type { HiddenName } from '../../server/library/catalog/store/hidden.ts'
import type { SessionReference } from '../../shared/paths.ts'
import { hides, keyOfName, readHidden } from './cluster.ts'
import type { Cluster, ExpectedHidden } from './cluster.ts'
import type { RunningNode } from './cluster-node.ts'
import type { Actor } from './actor.ts'

const ONE_URL = 'one URL has one byte sequence'

export type Invariant =
  | typeof ONE_URL
  | 'hidden within 5 s'
  | 'hidden stays hidden'
  | 'nothing is counted twice'
  | 'counters are exact'
  | 'every node converges'
  | 'no folder is left'

/** An invariant does not hold. */
export class Violation extends Error {
  readonly invariant: Invariant

  constructor(invariant: Invariant, detail: string) {
    super(`${invariant}: ${detail}`)
    this.invariant = invariant
  }
}

const HIDE_LIMIT_MS = 5000

/** After an event of an actor: of what it may have changed. */
export function checkStep(cluster: Cluster, actor: Actor): void {
  if (cluster.broken !== undefined) throw new Violation(ONE_URL, cluster.broken)
  if (cluster.hidden.size === 0) return
  for (const node of cluster.running) {
    const isItsEvent = node.actor === actor
    for (const expected of cluster.hidden.values()) {
      if (isItsEvent || !expected.appliedOn.has(node.name)) checkHidden(cluster, node, expected)
    }
  }
}

function checkHidden(cluster: Cluster, node: RunningNode, expected: ExpectedHidden): void {
  const { world, shared } = cluster.options
  const { name, sinceMs, appliedOn, staleOn } = expected
  const goodSinceMs = shared.goodSince(node.name)
  const { pausedUntilMs } = node.actor
  const isLate =
    goodSinceMs !== undefined &&
    world.nowMs - Math.max(goodSinceMs, sinceMs, node.startedMs, pausedUntilMs) > HIDE_LIMIT_MS
  const hasApplied = appliedOn.has(node.name)
  if (!isLate && !hasApplied && world.steps % 8 !== 0) return
  const detail = `${node.name} serves ${keyOfName(name)}`
  if (isServed(cluster, node.catalog, name)) {
    if (hasApplied) throw new Violation('hidden stays hidden', detail)
    if (isLate) throw new Violation('hidden within 5 s', detail)
    staleOn.delete(node.name)
  } else if (!hasApplied && (isLate || !staleOn.has(node.name)) && hides(node, name)) {
    appliedOn.add(node.name)
  }
}

/** Whether a node serves something of a hidden name. */
function isServed(cluster: Cluster, catalog: Catalog, name: HiddenName): boolean {
  if (name.kind === 'chat-user') return false
  const sessions = name.kind === 'session' ? [name] : sessionsOf(cluster, name.streamer)
  return sessions.some((session) => find(catalog, session))
}

function find(catalog: Catalog, session: SessionReference): boolean {
  const { stackTraceLimit } = Error
  // A stack costs more than the lookup.
  Error.stackTraceLimit = 0
  try {
    return catalog.findSession(session) !== undefined
  } catch (error) {
    if (isAppError(error, 'gone')) return false
    throw error
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

function sessionsOf(cluster: Cluster, streamer: string): SessionReference[] {
  return cluster.recordings.paths.map(sessionOf).filter((session) => session.streamer === streamer)
}

export function sessionOf(path: string): SessionReference {
  const [streamer = '', date = '', name = ''] = path.split('/')
  return { streamer, date, sessionId: name.replace(/\.[^.]*$/, '') }
}

/** What differs between the nodes, the database and the recordings; undefined if nothing does. */
export async function findDifference(cluster: Cluster): Promise<string | undefined> {
  const { server } = cluster.options
  const hidden = await readHidden(server).catch(() => undefined)
  if (hidden === undefined) return 'the database has no tables'
  const names = new Set(hidden.map(keyOfName))
  const wanted = listExpected(cluster, names)
  const { rows } = await server.query(
    `SELECT folder || '/' || name AS path, version FROM aftercast.recordings
     WHERE removed_at IS NULL ORDER BY 1`,
  )
  const published = rows.map(({ path, version }) => `${path} ${version}`).join('\n')
  const files = cluster.recordings.paths
    .map((path) => `${path} ${cluster.recordings.find(path)?.stat.version}`)
    .join('\n')
  if (published !== files) return `the database has\n${published}\nof\n${files}`
  for (const { name, catalog } of cluster.running) {
    const listed = listAll(catalog)
    if (listed !== wanted) return `${name} lists\n${listed}\ninstead of\n${wanted}`
    const problem = findShown(catalog, hidden)
    if (problem !== undefined) return `${name} serves ${problem}`
  }
  for (const [key] of cluster.hidden) {
    if (!names.has(key)) return `the database has lost that ${key} is hidden`
  }
  return undefined
}

function listExpected(cluster: Cluster, hidden: ReadonlySet<string>): string {
  return cluster.recordings.paths
    .map(sessionOf)
    .filter(({ streamer, date, sessionId }) => {
      return !hidden.has(streamer) && !hidden.has(`${streamer}/${date}/${sessionId}`)
    })
    .map(({ streamer, date, sessionId }) => `${streamer}/${date}/${sessionId}`)
    .toSorted()
    .join('\n')
}

/** As visitors see the lists. */
function listAll(catalog: Catalog): string {
  return catalog
    .listStreamers()
    .flatMap(({ name }) =>
      (catalog.listSessions(name) ?? []).map(
        ({ date, sessionId }) => `${name}/${date}/${sessionId}`,
      ),
    )
    .toSorted()
    .join('\n')
}

function findShown(catalog: Catalog, hidden: readonly HiddenName[]): string | undefined {
  const shown = hidden.find((name) => name.kind === 'session' && find(catalog, name))
  return shown && keyOfName(shown)
}

/** Folders that nothing is in. */
export function findLeftFolder(cluster: Cluster): string | undefined {
  const left = cluster.machines.find(({ node }) => (node?.countEmptyFolders() ?? 0) > 0)
  return left && `${left.name} has folders without recordings`
}

/** What differs between the counters of the database and what was counted. */
export async function findMiscount(
  cluster: Cluster,
): Promise<{ invariant: Invariant; detail: string } | undefined> {
  const { rows } = await cluster.options.server.query(
    `SELECT day || ' ' || name AS key, sum(amount)::float8 AS amount
     FROM aftercast.daily_counts GROUP BY 1`,
  )
  const stored = new Map(rows.map(({ key, amount }) => [String(key), Number(amount)]))
  for (const [key, amount] of stored) {
    const counted = cluster.counted.get(key) ?? 0
    const detail = `${key}: ${amount} of ${counted}`
    if (amount > counted) return { invariant: 'nothing is counted twice', detail }
  }
  if (cluster.hasLost) return undefined
  for (const [key, counted] of cluster.counted) {
    const amount = stored.get(key) ?? 0
    const detail = `${key}: ${amount} of ${counted}`
    if (amount !== counted) return { invariant: 'counters are exact', detail }
  }
  return undefined
}
