// `npm run bench -- cluster-upgrade --older DIR`: nodes of an older release are replaced one by one
// under load. Lists, images and all of HLS have equal responses on all nodes, and none fails.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureBuilt } from '../../scripts/prepare.mjs'
import { sessionsApiPath, streamersApiPath } from '../../shared/paths.ts'
import { placeWholeLibrary, WHOLE_LIBRARY } from '../../test/support/make/whole-library.ts'
import { startPostgres } from '../../test/support/servers/postgres.ts'
import { startRequestLoop } from '../../test/support/servers/request-loop.ts'
import type { RequestLoop } from '../../test/support/servers/request-loop.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import { createTempLibrary } from '../../test/support/temp-library.ts'
import { crawl } from '../../test/support/verify/crawl.ts'
import { describeMachine } from '../machine.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable } from '../table.ts'
import { startNode } from './node.ts'

/** Of each playlist; the loops request them again and again. */
const SEGMENTS = 60
const POLL_MS = 200
/** Pages reference the scripts of their release; a release may add calls and lines. */
const OF_THE_RELEASE =
  /^\/(?:s\/|p\/|embed\/| |robots\.txt|sitemap|feed|oembed)|^\/api\/(?:session|details|config)\b/

type Responses = ReadonlyMap<string, string[]>

/** Prints the table; rejects if a response differs or failed. */
export async function benchClusterUpgrade(options: BenchOptions): Promise<void> {
  await ensureBuilt()
  const scratch = mkdtempSync(path.join(tmpdir(), 'aftercast-bench-upgrade-'))
  const stops: (() => Promise<unknown>)[] = []
  try {
    const library = await createTempLibrary('upgrade')
    stops.push(async () => library.remove())
    await placeWholeLibrary(library)
    const postgres = await startPostgres()
    stops.push(async () => postgres.remove())
    const database = await postgres.createDatabase()
    const artifacts = path.join(scratch, 'artifacts')
    const start = async (name: string, release: 'older' | 'this'): Promise<StartedServer> => {
      const server = await startNode({
        name,
        scratch,
        recordings: library.recordings,
        database,
        environment: {
          AFTERCAST_ARTIFACTS: artifacts,
          AFTERCAST_PUBLIC_URL: 'https://site.example',
        },
        ...(release === 'older' && { checkout: options.older }),
      })
      stops.push(async () => server.stop())
      return server
    }
    await upgrade(start)
  } finally {
    for (const stop of stops.toReversed()) await stop()
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function upgrade(
  start: (name: string, release: 'older' | 'this') => Promise<StartedServer>,
): Promise<void> {
  const rows: string[][] = []
  const differing: string[] = []
  const [a, b] = [await start('a', 'older'), await start('b', 'older')]
  const before = await crawlReleased(a)
  const compare = async (phase: string, server: StartedServer): Promise<void> => {
    const after = await crawlReleased(server)
    const different = [...before.keys()].filter((key) => !isEqual(before.get(key), after.get(key)))
    differing.push(...different.map((key) => `${phase}: ${key}`))
    rows.push([phase, String(after.size), String(different.length)])
  }
  await compare('b, of the older release', b)
  const loops: [RequestLoop, RequestLoop] = [startLoop(a, before), startLoop(b, before)]
  const newB = await replace(b, loops[1], async () => start('b', 'this'))
  await compare('b, of this release', newB)
  await compare('a, beside it', a)
  const later = startLoop(newB, before)
  const newA = await replace(a, loops[0], async () => start('a', 'this'))
  await compare('a, of this release', newA)
  const responses = (await Promise.all([...loops, later].map(async (loop) => loop.end()))).flat()
  const failed = responses.filter(({ status }) => status !== 200)
  for (const line of [
    ...describeMachine([]),
    '',
    ...formatTable([['node', 'URLs', 'different'], ...rows]),
    `${responses.length} responses meanwhile, ${failed.length} failed.`,
  ]) {
    console.log(line)
  }
  const problems = [...differing, ...failed.map(({ url, status }) => `${url} ${status}`)]
  if (problems.length > 0) throw new Error(problems.slice(0, 10).join('\n'))
}

/** As a load balancer does: the node gets no more requests before it stops. */
async function replace(
  server: StartedServer,
  loop: RequestLoop,
  start: () => Promise<StartedServer>,
): Promise<StartedServer> {
  await loop.end()
  await server.stop()
  return start()
}

async function crawlReleased({ url }: StartedServer): Promise<Responses> {
  await waitUntilIndexed(url)
  const all = await crawl(url, { streamers: Object.keys(WHOLE_LIBRARY) })
  return new Map([...all].filter(([key]) => !OF_THE_RELEASE.test(key)))
}

async function waitUntilIndexed(url: string): Promise<void> {
  for (const [streamer, count] of Object.entries(WHOLE_LIBRARY)) {
    const countDurations = async (): Promise<number> => {
      const list = await (await fetch(url + sessionsApiPath(streamer))).text()
      return list.match(/"duration"/g)?.length ?? 0
    }
    while ((await countDurations()) < count) await sleep(POLL_MS)
  }
}

/** Lists, playlists and segments, as in the responses so far. */
function startLoop({ url }: StartedServer, responses: Responses): RequestLoop {
  const paths = [...responses]
    .filter(([, [status]]) => status === '200')
    .map(([key]) => key.split(' ', 1)[0] ?? '')
  const segments = paths.filter((target) => /\.(?:ts|m4s)$/.test(target)).slice(0, SEGMENTS)
  const playlists = paths.filter((target) => target.endsWith('.m3u8'))
  return startRequestLoop(
    [streamersApiPath, ...playlists, ...segments].map((target) => url + target),
  )
}

function isEqual(one: string[] | undefined, other: string[] | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
