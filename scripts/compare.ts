// `npm run compare -- REF`: the responses of another commit and of this one, byte for byte, over
// all fixtures: a guard of refactorings. Exits with 1 if any differs.
import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { sessionsResponse, streamersResponse } from '../shared/contract.ts'
import {
  playerPagePath,
  playlistApiPath,
  sessionsApiPath,
  streamersApiPath,
  thumbnailApiPath,
} from '../shared/paths.ts'
import { placeWholeLibrary } from '../test/support/make/whole-library.ts'
import { parseExactly } from '../test/support/parse-exactly.ts'
import { patienceMs } from '../test/support/patience.ts'
import { createBucket } from '../test/support/servers/bucket.ts'
import { awsEnvironment, startObjectStore } from '../test/support/servers/object-store.ts'
import { startPostgres } from '../test/support/servers/postgres.ts'
import { startServer } from '../test/support/servers/start-server.ts'
import { BROKEN_FIXTURE, RECORDED_AT, createTempLibrary } from '../test/support/temp-library.ts'
import type { TempLibrary } from '../test/support/temp-library.ts'
import { crawl } from '../test/support/verify/crawl.ts'

const USAGE = 'npm run compare -- REF [--media DIR] [--only SETTING]'
const DAY = '2026-01-31'
/** Differences that are printed in full. */
const PRINTED = 20
const UNKNOWN_DURATION = 'no duration'
const THIS_CHECKOUT = path.resolve(import.meta.dirname, '..')

const UNLISTED = [
  { streamer: 'fixtures', date: DAY, sessionId: path.parse(BROKEN_FIXTURE).name },
  { streamer: 'nobody', date: DAY, sessionId: '1' },
]
/** Errors, and paths that no response names. */
const MORE = [
  ...UNLISTED.flatMap((session) => [
    playlistApiPath(session),
    thumbnailApiPath(session),
    playerPagePath(session),
  ]),
  sessionsApiPath('nobody'),
  playlistApiPath(UNLISTED[1] ?? { streamer: '', date: '', sessionId: '' }).replace(
    /[^/]*$/,
    '0.ts',
  ),
  '/api/sessions/%ff',
  '/no/such/page',
  '/oembed',
  '/oembed?url=https://site.example/&format=xml',
  '/api/proxy-ad/nobody/ad-provider.js',
  '/healthz',
  '/readyz',
]

/** One way to run the program. */
interface Setting {
  name: string
  environment: Record<string, string>
  config: object
  /** All recordings have just been written. */
  isGrowing?: true
  /** Two nodes that share a database, and an object store with the recordings. */
  isCluster?: true
}

const settled = { library: { settleSeconds: 0 } }
const SETTINGS: readonly Setting[] = [
  { name: 'plain', environment: { AFTERCAST_HLS_ENCRYPTION: 'none' }, config: settled },
  { name: 'encrypted', environment: { AFTERCAST_ADS: 'house' }, config: settled },
  {
    name: 'growing',
    environment: { AFTERCAST_HLS_ENCRYPTION: 'none' },
    config: { library: { settleSeconds: 86_400 } },
    isGrowing: true,
  },
  { name: 'cluster', environment: {}, config: settled, isCluster: true },
]

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())

/** The other commit, then this one. */
type Pair<Item> = [other: Item, current: Item]

const { values, positionals } = parseArgs({
  options: { media: { type: 'string' }, only: { type: 'string' } },
  allowPositionals: true,
})
const [reference] = positionals
if (reference === undefined || positionals.length > 1) {
  console.error(USAGE)
  process.exitCode = 2
} else {
  process.exitCode = (await compare(reference)) === 0 ? 0 : 1
}

/** Returns the number of differences. */
async function compare(commit: string): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'aftercast-compare-'))
  // Decoders run as another user.
  chmodSync(folder, 0o755)
  const checkout = path.join(folder, 'checkout')
  const library = await createTempLibrary('compare')
  try {
    prepareCheckout(checkout, commit)
    await placeWholeLibrary(library)
    for (const file of values.media === undefined ? [] : listFiles(values.media)) {
      await library.place(`media/${DAY}/${path.basename(file)}`, readFileSync(file))
    }
    let count = 0
    for (const setting of SETTINGS) {
      if (values.only !== undefined && values.only !== setting.name) continue
      count += await compareSetting(setting, [checkout, THIS_CHECKOUT], library)
    }
    return count
  } finally {
    git(['worktree', 'remove', '--force', checkout])
    await library.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Another work tree with the commit, its packages and its page. */
function prepareCheckout(checkout: string, commit: string): void {
  git(['worktree', 'add', '--quiet', '--detach', checkout, commit])
  const lock = 'package-lock.json'
  const [other, current] = [checkout, THIS_CHECKOUT].map((root) =>
    readFileSync(path.join(root, lock), 'utf8'),
  )
  if (other === current) {
    // Modules behind a link would have other names in the page, and its files other hashes.
    const [from, to] = [THIS_CHECKOUT, checkout].map((root) => path.join(root, 'node_modules'))
    cpSync(from ?? '', to ?? '', { recursive: true, verbatimSymlinks: true })
  }
  for (const root of [checkout, THIS_CHECKOUT]) {
    const prepare = `import('./scripts/prepare.mjs').then(async (to) => {
      await to.ensureInstalled()
      await to.ensureBuilt()
    })`
    execFileSync(process.execPath, ['-e', prepare], { cwd: root, stdio: ['ignore', 2, 2] })
  }
}

function git(args: string[]): void {
  execFileSync('git', args, { cwd: THIS_CHECKOUT, stdio: ['ignore', 2, 2] })
}

function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ name, parentPath }) => path.join(parentPath, name))
}

async function compareSetting(
  setting: Setting,
  checkouts: Pair<string>,
  library: TempLibrary,
): Promise<number> {
  const stops: (() => Promise<unknown>)[] = []
  const modified = setting.isGrowing ? new Date() : RECORDED_AT
  for (const file of listFiles(library.recordings)) await utimes(file, modified, modified)
  try {
    const start = setting.isCluster ? await prepareCluster(library, stops) : startOne(library)
    const [others, currents] = [
      await start(setting, checkouts[0], stops),
      await start(setting, checkouts[1], stops),
    ]
    let count = 0
    for (const [at, url] of currents.entries()) {
      const label = currents.length > 1 ? `${setting.name}, node ${at + 1}` : setting.name
      // Of a growing recording, too little may be stable to be listed.
      const retryForMs = setting.isGrowing ? 0 : patienceMs
      count += await compareSites(label, [others[at] ?? '', url], retryForMs)
    }
    return count
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
}

/** Starts the nodes of a site, and returns their addresses. */
type StartSite = (
  setting: Setting,
  checkout: string,
  stops: (() => Promise<unknown>)[],
) => Promise<string[]>

function startOne(library: TempLibrary): StartSite {
  return async (setting, checkout, stops) => [
    await startNode(setting, { checkout, recordings: library.recordings, library, stops }),
  ]
}

/** Both commits have a database and artifacts of their own, and share the recordings. */
async function prepareCluster(
  library: TempLibrary,
  stops: (() => Promise<unknown>)[],
): Promise<StartSite> {
  const [postgres, store] = [await startPostgres(), await startObjectStore()]
  stops.push(
    async () => postgres.remove(),
    async () => store.stop(),
  )
  const bucket = await createBucket(store)
  await bucket.putTree(library.recordings, 'recordings/')
  let sites = 0
  return async (setting, checkout, ends) => {
    const environment = {
      ...setting.environment,
      ...awsEnvironment(store),
      AFTERCAST_S3_PATH_STYLE: 'true',
      AFTERCAST_ARTIFACTS: `s3://${bucket.name}/artifacts-${(sites += 1)}`,
      AFTERCAST_DATABASE_URL: await postgres.createDatabase(),
    }
    const recordings = `s3://${bucket.name}/recordings`
    const place = { checkout, recordings, library, stops: ends }
    const first = await startNode({ ...setting, environment }, place)
    return [first, await startNode({ ...setting, environment }, place)]
  }
}

interface Place {
  checkout: string
  recordings: string
  library: TempLibrary
  stops: (() => Promise<unknown>)[]
}

/** Resolves once the recordings are indexed. */
async function startNode(
  { name, environment, config, isCluster }: Setting,
  { checkout, recordings, library, stops }: Place,
): Promise<string> {
  const data = mkdtempSync(path.join(library.folder, 'data-'))
  const settings = path.join(library.folder, `${name}.json`)
  await writeFile(settings, JSON.stringify(config))
  const args = [recordings, '--data', data, '--config', settings]
  const variables = {
    AFTERCAST_PUBLIC_URL: 'https://site.example',
    AFTERCAST_HLS_SECRET: 'the same on both sides',
    AFTERCAST_WORKERS: '1',
    ...environment,
  }
  if (!isCluster) {
    const program = path.join(checkout, 'server/main.ts')
    const env = { ...process.env, ...variables }
    const { signal } = stopping
    await promisify(execFile)(process.execPath, [program, 'scan', ...args], { env, signal })
  }
  const server = await startServer({
    checkout,
    args,
    environment: variables,
    signal: stopping.signal,
  })
  stops.push(async () => server.stop())
  if (isCluster) await untilIndexed(server.url)
  return server.url
}

/** Resolves once all sessions have a duration, and the lists stay the same. */
async function untilIndexed(url: string): Promise<void> {
  const deadlineMs = performance.now() + patienceMs
  for (let before = ''; performance.now() < deadlineMs; await sleep(1000)) {
    const lists = await readLists(url)
    if (lists === before && !lists.includes(UNKNOWN_DURATION)) return
    before = lists
  }
  throw new Error('not all sessions were indexed in time')
}

async function readLists(url: string): Promise<string> {
  const list = async (apiPath: string) => (await fetch(url + apiPath)).json()
  const { streamers } = parseExactly(streamersResponse, await list(streamersApiPath))
  const names = streamers.map((streamer) => streamer.name)
  const lists = await Promise.all(
    names.map(async (name) => parseExactly(sessionsResponse, await list(sessionsApiPath(name)))),
  )
  const lines = lists
    .flat()
    .map(({ date, sessionId, duration = UNKNOWN_DURATION }) =>
      [date, sessionId, duration].join(' '),
    )
  return [...names, ...lines].join('\n')
}

/** Prints what differs, and returns how many responses do. */
async function compareSites(
  label: string,
  urls: Pair<string>,
  retryForMs: number,
): Promise<number> {
  const options = { thumbnails: 'all', variants: true, more: MORE, retryForMs } as const
  const [other, current] = await Promise.all([crawl(urls[0], options), crawl(urls[1], options)])
  const requests = [...new Set([...other.keys(), ...current.keys()])]
  const different = requests.filter((request) => !isSame(other.get(request), current.get(request)))
  for (const [at, request] of different.entries()) {
    console.log(`${label}: ${request}`)
    if (at >= PRINTED) continue
    const [before = ['not requested'], after = ['not requested']] = [other, current].map((found) =>
      found.get(request),
    )
    for (const line of before) if (!after.includes(line)) console.log(`  - ${line}`)
    for (const line of after) if (!before.includes(line)) console.log(`  + ${line}`)
  }
  console.log(`${label}: ${requests.length} responses, ${different.length} differ`)
  return different.length
}

function isSame(before: readonly string[] | undefined, after: readonly string[] | undefined) {
  return before?.join('\n') === after?.join('\n')
}
