// `npm run clients`: players and downloaders play sessions of every container to their end, from a
// server with and one without encryption. Prints how many seconds of audio each has received, and
// exits with 1 if a combination that is supported fails, or one with a known failure succeeds.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { formatTable } from '../bench/table.ts'
import { playerPagePath, playlistApiPath } from '../shared/paths.ts'
import { growingSessions } from '../test/e2e/growing-sessions.ts'
import { settleSeconds } from '../test/support/growing-file.ts'
import { fetchPlaylist } from '../test/support/servers/hls-client.ts'
import { startServer } from '../test/support/servers/start-server.ts'
import type { StartedServer } from '../test/support/servers/start-server.ts'
import { createTempLibrary } from '../test/support/temp-library.ts'
import type { TempLibrary } from '../test/support/temp-library.ts'
import { CLIENTS, runClient } from './clients/clients.ts'
import type { Client } from './clients/clients.ts'
import { SESSIONS, placeSession } from './clients/sessions.ts'
import type { Session } from './clients/sessions.ts'
import { ensureBuilt } from './prepare.mjs'
import { clientSets, findPrograms, packagesOf } from './programs.mjs'

const USAGE = 'npm run clients -- [--client NAME] [--session ID]'
const STREAMER = 'clients'
const DAY = '2026-01-31'
/** Per part: audio is up to 0.3 s shorter than video, and some clients cut 0.6 s of its start. */
const TOLERANCE_SECONDS = 1
/** A growing session continues when its client has had this time to start. */
const GROWTH_PAUSE_MS = 3000
const POLL_MS = 200
/** Lines of a client's output for a failure. */
const SHOWN_LINES = 3
const LINE_LENGTH = 200

/** One client that plays one session of one server. */
interface Run {
  sessionId: string
  session: Session
  isEncrypted: boolean
  serverUrl: string
  name: string
  client: Client
}

interface Outcome extends Run {
  /** Seconds of audio that the client has received. */
  heardSeconds: number
  listedSeconds: number
  failure: string | undefined
  knownFailure: string | undefined
}

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())

const { values } = parseArgs({
  options: { client: { type: 'string' }, session: { type: 'string' } },
})
const clients = Object.entries(CLIENTS).filter(([name]) => name === (values.client ?? name))
const sessions = Object.entries(SESSIONS).filter(([id]) => id === (values.session ?? id))
const missing = clientSets.filter((set) => findPrograms(set) === undefined)
if (clients.length === 0 || sessions.length === 0) {
  console.error(USAGE)
  process.exitCode = 2
} else if (missing.length > 0) {
  for (const set of missing) console.error(`missing: ${set} (Debian: ${packagesOf(set).join(' ')})`)
  process.exitCode = 1
} else {
  await ensureBuilt()
  const outcomes = await playAll()
  const wrong = outcomes.filter(({ failure, knownFailure }) => !failure !== !knownFailure)
  for (const line of [...formatOutcomes(outcomes), ...wrong.map(explain)]) console.log(line)
  process.exitCode = wrong.length === 0 ? 0 : 1
}

async function playAll(): Promise<Outcome[]> {
  const library = await createTempLibrary('clients')
  const servers: StartedServer[] = []
  try {
    for (const [id, session] of sessions)
      await placeSession(library, `${STREAMER}/${DAY}/${id}`, session)
    const config = path.join(library.folder, 'config.json')
    await writeFile(config, JSON.stringify({ library: { settleSeconds } }))
    const runs: Run[] = []
    for (const encryption of ['none', 'aes-128']) {
      const server = await startServer({
        args: [library.recordings, '--data', `${library.data}-${encryption}`, '--config', config],
        environment: { AFTERCAST_HLS_ENCRYPTION: encryption },
      })
      servers.push(server)
      const common = { serverUrl: server.url, isEncrypted: encryption !== 'none' }
      for (const [sessionId, session] of sessions) {
        const able = clients.filter(([, { playsPage }]) => !(session.quality && playsPage))
        const others = able.map(([name, client]) => ({ name, client, ...common }))
        runs.push(...others.map((other) => ({ ...other, sessionId, session })))
      }
    }
    return await playSome(library, runs)
  } finally {
    for (const server of servers) await server.stop()
    await library.remove()
  }
}

/** More at the same time than there are processors: clients wait for growing sessions. */
async function playSome(library: TempLibrary, runs: readonly Run[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const queue = runs.entries()
  const playNext = async (): Promise<void> => {
    for (const [at, run] of queue) outcomes[at] = await play(library, run)
  }
  await Promise.all(Array.from({ length: 2 * availableParallelism() }, playNext))
  return outcomes
}

async function play(library: TempLibrary, run: Run): Promise<Outcome> {
  const { sessionId, session, isEncrypted, serverUrl, name, client } = run
  const runId = `${sessionId}-${isEncrypted ? 'encrypted' : 'clear'}-${name.replace(', ', '-')}`
  const growing = growingSessions.find((grown) => grown.name === session.growsAs)
  const streamer = growing ? runId : STREAMER
  const reference = { streamer, date: DAY, sessionId: growing?.name ?? sessionId }
  const query = session.quality === undefined ? '' : `?quality=${session.quality}`
  const playlistUrl = serverUrl + playlistApiPath(reference) + query
  const pageUrl = serverUrl + playerPagePath(reference)
  const out = path.join(library.folder, runId)
  const played = Promise.withResolvers<void>()
  const written = growing?.write(library.pathOf(`${streamer}/${DAY}`), played.promise)
  const firstListed = growing ? await untilListed(playlistUrl) : 0
  const source = { session, isEncrypted, playlistUrl, pageUrl, out }
  const [{ code, log }] = await Promise.all([
    runClient(client, source, stopping.signal),
    growing && sleep(GROWTH_PAUSE_MS).then(() => played.resolve()),
    written,
  ])
  const heardSeconds = await measureAudio(out)
  const listedSeconds = await measureListed(playlistUrl)
  const tolerance = TOLERANCE_SECONDS * Math.max(1, session.fixtures.length)
  const missedSeconds = listedSeconds - heardSeconds
  const mayMiss = client.joinsLive ? firstListed : 0
  const isWhole = missedSeconds >= -tolerance && missedSeconds <= mayMiss + tolerance
  const failure = code === 0 && isWhole ? undefined : `exit code ${code}\n${lastLines(log)}`
  const sometimesFails = failure && client.sometimesFails?.(source)
  const knownFailure = client.knownFailure?.(source) ?? sometimesFails
  return { ...run, heardSeconds, listedSeconds, failure, knownFailure }
}

/** Returns how many seconds are listed first. */
async function untilListed(playlistUrl: string): Promise<number> {
  while (!(await fetch(playlistUrl)).ok) await sleep(POLL_MS)
  return measureListed(playlistUrl)
}

async function measureListed(playlistUrl: string): Promise<number> {
  const { segments } = await fetchPlaylist(playlistUrl)
  return sum(segments.map(({ durationSeconds }) => durationSeconds))
}

/** The sum of all packets: timestamps may restart. 0 for a file without audio. */
async function measureAudio(file: string): Promise<number> {
  const probe = findPrograms('FFmpeg')?.probe ?? 'ffprobe'
  const shown = '-v error -select_streams a:0 -show_entries packet=duration_time -of csv=p=0'
  try {
    const { stdout } = await promisify(execFile)(probe, [...shown.split(' '), file])
    return sum(stdout.split('\n').map((line) => Number.parseFloat(line) || 0))
  } catch {
    return 0
  }
}

function formatOutcomes(outcomes: readonly Outcome[]): string[] {
  const rows = Map.groupBy(outcomes, nameRow)
  const head = ['seconds', 'playlist', ...clients.map(([name]) => name)]
  const reasons = new Set(
    outcomes.flatMap(({ name, knownFailure = '' }) =>
      knownFailure ? [`${name}: ${knownFailure}`] : [],
    ),
  )
  return [
    ...formatTable(
      head,
      ...[...rows].map(([row, found]) => [
        row,
        found[0]?.listedSeconds.toFixed(1) ?? '',
        ...found.map(formatCell),
      ]),
    ),
    ...[...reasons].map((reason) => `known, ${reason}`),
  ]
}

function nameRow({ sessionId, isEncrypted }: Outcome): string {
  return isEncrypted ? `${sessionId}, encrypted` : sessionId
}

function formatCell({ failure, knownFailure, heardSeconds }: Outcome): string {
  if (failure !== undefined) return knownFailure === undefined ? 'FAILED' : 'known'
  return heardSeconds.toFixed(1) + (knownFailure === undefined ? '' : ' PLAYS NOW')
}

function explain(outcome: Outcome): string {
  const { name, heardSeconds, failure } = outcome
  if (failure === undefined) return `${name} plays ${nameRow(outcome)} now: it is not known to fail`
  return `\n${name}, ${nameRow(outcome)}: ${heardSeconds.toFixed(1)} s, ${failure}`
}

function lastLines(log: string): string {
  const lines = log.trim().split('\n').slice(-SHOWN_LINES)
  return lines.map((line) => line.slice(-LINE_LENGTH)).join('\n')
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
