// The scenarios of the endurance benchmarks.
import { copyFileSync, linkSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { playlistApiPath, thumbnailApiPath } from '../../shared/paths.ts'
import { WHOLE_LIBRARY } from '../../test/support/make/whole-library.ts'
import { makeLargeRecording } from '../../test/support/make/make-large-recording.ts'
import { fetchPlaylist } from '../../test/support/servers/hls-client.ts'
import { fixturePath, RECORDED_AT, SMALL_FIXTURE } from '../../test/support/temp-library.ts'
import { crawl } from '../../test/support/verify/crawl.ts'
import { listSegments } from '../cut-segments.ts'
import { DAY, ensureLongMp4 } from '../media.ts'
import type { BenchOptions } from '../options.ts'
import { changeLibrary } from './change-library.ts'
import { waitUntilListed, writeRecording } from './listing.ts'
import { GROWING } from './recorded-session.ts'
import { countDescriptors } from './run-scenario.ts'
import type { Scenario, Scene, Stage } from './run-scenario.ts'

const MINUTE_MS = 60_000
const WORKS_MS = 20_000
/** Statements and connections fail before. */
const HANGS_MS = 40_000
const RESTART_EVERY_MS = 5000
const RESTARTS = 12
/** Descriptors that the caches of a server may add. */
const OWN_DESCRIPTORS = 8
/** The longest time limit of the server for clients is 75 s. */
const GONE_WITHIN_MS = 100_000
const POSTER_BYTES = 10 * 1024 * 1024
const POLL_MS = 50
const LARGE = { ...DAY, streamer: 'large', sessionId: 'large' }

const AES = { AFTERCAST_HLS_ENCRYPTION: 'aes-128' }
const PLAIN = { AFTERCAST_HLS_ENCRYPTION: 'none' }

/** Viewers: those of 1 Mbit/s read 64 KiB every half second, players a segment every 6 s. */
function viewersOf(name: string, pace: { count: number; pauseMs: number; everyMs: number }): Scene {
  return {
    name,
    environment: { ...(name.endsWith('aes') ? AES : PLAIN), ...GROWING },
    crowd: async ({ nodes, segments, bench }) => ({
      ...pace,
      kind: 'viewers',
      urls: segments.map((segment) => `${nodes[0]?.url}${segment}`),
      isPatient: bench.options.isSmoke,
    }),
  }
}

const PLAYERS = { count: 200, pauseMs: 0, everyMs: 6000 }
const SLOW = { count: 300, pauseMs: 500, everyMs: 0 }

const viewers: Scenario = {
  scenes: [
    viewersOf('players, aes', PLAYERS),
    viewersOf('players', PLAYERS),
    viewersOf('slow viewers', SLOW),
    viewersOf('slow viewers, aes', SLOW),
    viewersOf('players that never wait', { count: 100, pauseMs: 0, everyMs: 0 }),
  ],
  phases: [
    { name: 'they watch', run: async (_stage, { hold }) => hold(WORKS_MS) },
    {
      name: 'a long recording is added',
      async run({ bench, recordings, sessions, nodes: [node] }) {
        const day = path.join(recordings, DAY.streamer, DAY.date)
        linkSync(ensureLongMp4(bench.options), path.join(day, 'long.mp4'))
        await waitUntilListed(node?.url ?? '', sessions + 1)
        await fetchPlaylist(`${node?.url}${playlistApiPath({ ...DAY, sessionId: 'long' })}`)
      },
    },
    {
      name: 'the library changes',
      isFlat: true,
      run: async (stage) => changeLibrary(stage, stage.bench.options.phaseMinutes * MINUTE_MS),
    },
  ],
}

interface Connections {
  count: number
  requests: (paths: { segment: string; poster: string }) => string[]
  trickle?: string
  readBytes?: number
}

/** Clients that send nothing, send slowly, read slowly or not at all, or pipeline. */
function clientsOf(name: string, { requests, ...clients }: Connections): Scene {
  return {
    name,
    environment: PLAIN,
    prepare: placeLargeFiles,
    async crowd({ nodes: [node] }) {
      const url = node?.url ?? ''
      const [segment = ''] = await listSegments(url + playlistApiPath(LARGE))
      const paths = { segment, poster: thumbnailApiPath(LARGE) }
      const port = Number(new URL(url).port)
      return { ...clients, kind: 'connections', port, requests: requests(paths) }
    },
  }
}

function get(target: string): string {
  return `GET ${target} HTTP/1.1\r\nHost: bench\r\n\r\n`
}

const clients: Scenario = {
  scenes: [
    clientsOf('500 readers of nothing', {
      count: 500,
      requests: ({ segment, poster }) => [get(segment), get(poster)],
    }),
    clientsOf('10,000 idle connections', { count: 10_000, requests: () => [''] }),
    clientsOf('500 slow heads', {
      count: 500,
      requests: () => ['GET / HTTP/1.1\r\n'],
      trickle: 'A: b\r\n',
    }),
    clientsOf('1,000 slow viewers', {
      count: 1000,
      requests: ({ segment }) => [get(segment)],
      readBytes: 64 * 1024,
    }),
    clientsOf('40 × 500 pipelined', {
      count: 40,
      requests: ({ segment }) => [get(segment).repeat(500)],
    }),
  ],
  phases: [
    { name: 'they are there', run: async (_stage, { hold }) => hold(WORKS_MS) },
    { name: 'until they are gone', run: waitUntilGone },
  ],
}

/** A recording with a segment that sockets do not hold, and a large image. */
function placeLargeFiles(recordings: string): number {
  const file = path.join(recordings, LARGE.streamer, LARGE.date, `${LARGE.sessionId}.ts`)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, makeLargeRecording())
  utimesSync(file, RECORDED_AT, RECORDED_AT)
  const poster = Buffer.alloc(POSTER_BYTES, 7)
  poster.set([0xff, 0xd8, 0xff, 0xe0])
  writeFileSync(file.replace('.ts', '.jpg'), poster)
  return 1
}

/** The server ends what sends or reads nothing; slow viewers may stay. */
async function waitUntilGone({ bench, nodes, descriptors }: Stage): Promise<void> {
  const endMs = performance.now() + (bench.options.isSmoke ? 0 : GONE_WITHIN_MS)
  while (countDescriptors(nodes) > descriptors + OWN_DESCRIPTORS && performance.now() < endMs)
    await sleep(POLL_MS)
}

const outage: Scenario = {
  scenes: [{ name: 'the database', cluster: 'this' }],
  phases: [
    { name: 'works', run: async (_stage, { hold }) => hold(WORKS_MS) },
    {
      name: 'is stopped',
      async run({ postgres, bench }, { hold }) {
        await postgres?.stop()
        await hold(bench.options.phaseMinutes * MINUTE_MS)
        await postgres?.start()
      },
    },
    { name: 'works again', run: async (_stage, { hold }) => hold(WORKS_MS) },
    {
      name: 'hangs',
      async run({ postgres }, { hold }) {
        postgres?.suspend()
        await hold(HANGS_MS)
        postgres?.resume()
      },
    },
    {
      name: 'restarts again and again',
      async run({ postgres, bench }, { hold }) {
        for (let restart = 0; restart < (bench.options.isSmoke ? 1 : RESTARTS); restart += 1) {
          await postgres?.stop()
          await postgres?.start()
          await hold(RESTART_EVERY_MS)
        }
      },
    },
    { name: 'until all nodes list a change', run: waitUntilChanged },
  ],
}

async function waitUntilChanged({ recordings, sessions, nodes }: Stage): Promise<void> {
  writeRecording(recordings, { ...DAY, streamer: 'new', sessionId: '1' })
  for (const { url } of nodes) await waitUntilListed(url, sessions + 1)
}

const upgrade: Scenario = {
  scenes: [
    {
      name: 'an older release',
      cluster: 'older',
      environment: { AFTERCAST_PUBLIC_URL: 'https://site.example' },
      prepare: placeFixtures,
    },
  ],
  phases: [
    { name: 'both nodes are of it', run: compareNodes },
    { name: 'one is replaced', run: async (_stage, { replace }) => replace(1) },
    { name: 'one is of this release', run: compareNodes },
    { name: 'the other is replaced', run: async (_stage, { replace }) => replace(0) },
    { name: 'both are of this release', run: compareNodes },
  ],
}

function placeFixtures(recordings: string, { isSmoke }: BenchOptions): number {
  if (isSmoke) return 0
  const day = path.join(recordings, 'fixtures', DAY.date)
  const source = path.dirname(fixturePath(SMALL_FIXTURE))
  mkdirSync(day, { recursive: true })
  for (const name of readdirSync(source).filter((each) => !each.endsWith('.md'))) {
    copyFileSync(path.join(source, name), path.join(day, name))
    utimesSync(path.join(day, name), RECORDED_AT, RECORDED_AT)
  }
  return WHOLE_LIBRARY.fixtures
}

/** Pages reference the scripts of their release; a release may add calls and lines. */
const OF_THE_RELEASE =
  /^\/(?:s\/|p\/|embed\/| |robots\.txt|sitemap|feed|oembed)|^\/api\/(?:session|details|config)\b/
const firstResponses = new WeakMap<Stage, ReadonlyMap<string, string[]>>()

/** Lists, images and all of HLS of all nodes are those of the first node in the beginning. */
async function compareNodes(stage: Stage): Promise<void> {
  for (const [at, { url }] of stage.nodes.entries()) {
    const crawled = await crawl(url)
    const expected = firstResponses.get(stage) ?? crawled
    firstResponses.set(stage, expected)
    for (const [key, response] of expected) {
      const isEqual = JSON.stringify(crawled.get(key)) === JSON.stringify(response)
      if (!OF_THE_RELEASE.test(key) && !isEqual)
        stage.bench.faults.push(`node ${at} responds differently: ${key}`)
    }
  }
}

export const SCENARIOS = { viewers, clients, outage, upgrade }
