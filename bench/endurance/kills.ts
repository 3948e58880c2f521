// `npm run bench -- kills`: kills the server at random moments while it scans a library in which
// one recording grows. Then what was listed is there with the same bytes, once, and in the end all.
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeLongTs } from '../../test/support/make/make-long-ts.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import type { Bench } from '../harness.ts'
import { formatTable, median } from '../table.ts'
import { listSessions, writeRecordings } from './listing.ts'
import { GROWING, RecordedSession } from './recorded-session.ts'

/** Latest moment of a kill after the start; the others are spread evenly before it. */
const KILL_WITHIN_MS = 1500
const POLL_MS = 20
const APPENDS = 400
const MAX_START_MS = 3000

export async function benchKills(bench: Bench): Promise<string[]> {
  const { kills, isSmoke } = bench.options
  const place = path.join(bench.scratch, 'kills')
  const [library, data] = [path.join(place, 'library'), path.join(place, 'data')]
  mkdirSync(library, { recursive: true })
  const sessions = writeRecordings(library, isSmoke ? 10 : 600)
  const whole = path.join(place, 'whole.ts')
  const seconds = isSmoke ? 60 : 600
  await makeLongTs(whole, seconds)
  const bytes = readFileSync(whole)
  const start = async (): Promise<StartedServer> =>
    bench.startNode({ recordings: library, data, environment: GROWING })
  const begin = (kill: number): RecordedSession => {
    const session = { streamer: 'growing', date: '2026-01-31', sessionId: `${kill}` }
    return new RecordedSession({ library, session, bytes, seconds, appends: APPENDS })
  }
  let recording = begin(0)
  const recorder = setInterval(() => recording.append(), POLL_MS)
  bench.defer(() => clearInterval(recorder))
  /** Sessions that were listed with a duration since the data folder was new. */
  let known = new Map<string, string>()
  const lookUp = async ({ url }: StartedServer, signal?: AbortSignal): Promise<void> => {
    const { durations, faults } = await listSessions(url)
    const watched = await recording.watch(url, signal)
    signal?.throwIfAborted()
    bench.faults.push(...faults, ...watched)
    for (const [key, duration] of known) {
      const isLost = !key.startsWith('growing/') && durations.get(key) !== duration
      if (isLost) bench.faults.push(`${key} was ${duration}`)
    }
    for (const [key, duration] of durations) if (duration !== undefined) known.set(key, duration)
  }
  const startsMs: number[] = []
  for (let kill = 1; kill <= kills; kill += 1) {
    await killDuring(await start(), lookUp, ((kill - Math.random()) / kills) * KILL_WITHIN_MS)
    const startedMs = performance.now()
    const server = await start()
    startsMs.push(performance.now() - startedMs)
    await lookUp(server)
    const isAllKnown = known.size >= sessions.length && recording.isComplete
    if (isAllKnown) bench.faults.push(...(await recording.end(server.url)))
    await server.kill()
    if (!isAllKnown) continue
    rmSync(data, { recursive: true })
    known = new Map()
    recording = begin(kill)
  }
  const slow = startsMs.filter((ms) => ms > MAX_START_MS).length
  const times = [median(startsMs), Math.max(...startsMs)].map((ms) => ms.toFixed(0))
  const row = [String(kills), String(bench.faults.length), ...times, String(slow)]
  return formatTable(['kills', 'faults', 'start p50 ms', 'longest', 'over 3 s'], row)
}

/** Uses it again and again; after the kill, its port may be that of another program. */
async function killDuring(
  server: StartedServer,
  use: (server: StartedServer, signal: AbortSignal) => Promise<void>,
  afterMs: number,
): Promise<void> {
  const kill = new AbortController()
  const { signal } = kill
  const using = (async () => {
    for (; !signal.aborted; await sleep(POLL_MS)) await use(server, signal)
  })().catch(() => undefined)
  await sleep(afterMs)
  kill.abort()
  await Promise.all([using, server.kill()])
}
