// Artifacts that nodes share: an index is made once for all of them, an image too.
import { readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { thumbnailApiPath } from '../shared/paths.ts'
import { soon } from './support/patience.ts'
import { createBucket } from './support/servers/bucket.ts'
import type { TestBucket } from './support/servers/bucket.ts'
import { startFaultProxy } from './support/servers/fault-proxy.ts'
import type { FaultProxy } from './support/servers/fault-proxy.ts'
import { awsEnvironment, startObjectStore } from './support/servers/object-store.ts'
import type { StartedObjectStore } from './support/servers/object-store.ts'
import { findFreePort } from './support/servers/free-port.ts'
import { runInProcess } from './support/servers/run-program.ts'
import type { ProgramOutcome } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

/** Each container, and a recording without a playable byte. */
const FIXTURES = [
  'mp4-h264-aac-moov-first.mp4',
  'fmp4-h264-aac-18frag.mp4',
  'ts-h264-aac-clean-hls-concat.ts',
  'mkv-h264-aac-60s.mkv',
  'flv-h264-aac.flv',
  'mp4-unreadable-malformed-box.mp4',
]
/** Of the bytes of all recordings: a new node reads less. */
const MAX_SHARE = 0.02
const SHARED_AFTER_MS = 2000
const SCANNED = '6 sessions of 1 streamer are indexed\n'
const CONFIG = JSON.stringify({ library: { settleSeconds: 0 } })

describe('in a bucket', () => {
  let store: StartedObjectStore
  let proxy: FaultProxy
  let bucket: TestBucket
  let library: TempLibrary
  let recordingBytes = 0

  beforeAll(async () => {
    store = await startObjectStore()
    proxy = await startFaultProxy(store)
    bucket = await createBucket(store)
    library = await createTempLibrary('artifacts')
    for (const name of FIXTURES) {
      const bytes = await readFile(fixturePath(name))
      await bucket.put(`recordings/alice/2026-01-31/${name}`, bytes)
      recordingBytes += bytes.length
    }
    await putPlaylistFolder()
    await writeFile(path.join(library.folder, 'aftercast.config.json'), CONFIG)
    await untilShared()
    for (const [name, value] of Object.entries(awsEnvironment(proxy.store))) vi.stubEnv(name, value)
  })

  afterAll(() => vi.unstubAllEnvs())

  beforeEach(() => proxy.clear())

  /** Shortly after a change, an object may change again: its index is not shared. */
  async function untilShared(): Promise<void> {
    const changedAtMs = Date.now()
    await vi.waitUntil(() => Date.now() > changedAtMs + SHARED_AFTER_MS, soon)
  }

  /** A recorder's playlist with two segments. */
  async function putPlaylistFolder(): Promise<void> {
    const segment = await readFile(fixturePath('ts-h264-aac-cea608.ts'))
    const names = ['0.ts', '1.ts']
    for (const name of names) await bucket.put(`recordings/alice/2026-02-01/live/${name}`, segment)
    const lines = names.flatMap((name) => ['#EXTINF:10,', name])
    const playlist = ['#EXTM3U', '#EXT-X-TARGETDURATION:10', ...lines, '#EXT-X-ENDLIST', ''].join(
      '\n',
    )
    await bucket.put('recordings/alice/2026-02-01/live/index.m3u8', playlist)
    recordingBytes += names.length * segment.length
  }

  /** Scans with an empty data folder. */
  async function scan(node: string, settings: NodeJS.ProcessEnv = {}): Promise<ProgramOutcome> {
    const args = [
      'scan',
      `s3://${bucket.name}/recordings`,
      '--data',
      path.join(library.folder, node),
    ]
    const environment = {
      AFTERCAST_ARTIFACTS: `s3://${bucket.name}/artifacts`,
      AFTERCAST_S3_PATH_STYLE: 'true',
      ...settings,
    }
    return runInProcess(args, { workingFolder: library.folder, environment })
  }

  function recordingBytesRead(): number {
    return proxy.requests
      .filter(({ operation, key }) => operation === 'GetObject' && key.startsWith('recordings/'))
      .reduce((sum, { storeBytes }) => sum + storeBytes, 0)
  }

  async function sharedIndexes(): Promise<string[]> {
    return (await bucket.keys()).filter((key) => key.endsWith('.index'))
  }

  it('a new node reads the indexes, and not the recordings', async () => {
    const first = await scan('a')
    expect(first).toMatchObject({ code: 0, stdout: SCANNED })
    expect(recordingBytesRead()).toBeGreaterThan(recordingBytes / 2)
    // One of each recording; the two segments of the playlist are one recording.
    expect(await sharedIndexes()).toHaveLength(FIXTURES.length + 1)
    proxy.clear()
    expect(await scan('b')).toEqual(first)
    expect(recordingBytesRead()).toBeLessThan(MAX_SHARE * recordingBytes)
  })

  it('an object that was replaced is read by one node, and no other object is', async () => {
    const changed = 'recordings/alice/2026-01-31/flv-h264-aac.flv'
    const bytes = await readFile(fixturePath('flv-h264-aac.flv'))
    await bucket.put(changed, bytes.subarray(0, 400_000))
    await untilShared()
    await scan('c')
    const others = recordingBytesRead() - proxy.objectBytes(changed)
    expect(others).toBeLessThan(MAX_SHARE * recordingBytes)
    proxy.clear()
    await scan('d')
    expect(recordingBytesRead()).toBeLessThan(MAX_SHARE * recordingBytes)
  })

  it('nodes index by themselves while it is unavailable', async () => {
    const when = ({ key }: { key: string }) => key.startsWith('artifacts/aftercast-index')
    proxy.inject({ kind: 'error', status: 503, code: 'ServiceUnavailable' }, { when })
    const outcome = await scan('e', { AFTERCAST_LOG_LEVEL: 'error' })
    expect(outcome).toMatchObject({ code: 0, stdout: SCANNED })
    expect(recordingBytesRead()).toBeGreaterThan(recordingBytes / 2)
    await proxy.heal()
  })

  it.each([
    ['no such bucket', { AFTERCAST_ARTIFACTS: 's3://no-such-bucket/artifacts' }],
    ['must not be inside the recordings', {}],
  ])('exits with 2 and one line: %s', async (problem, settings) => {
    const inside = { AFTERCAST_ARTIFACTS: `s3://${bucket.name}/recordings/artifacts` }
    const { code, stderr } = await scan('f', { ...inside, ...settings })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^aftercast: artifacts: s3:[^\n]*\n$/)
    expect(stderr).toContain(problem)
  })

  it('exits with 2 and one line if the credentials may only read', async () => {
    const when = ({ operation }: { operation: string }) => operation === 'PutObject'
    proxy.inject({ kind: 'error', status: 403, code: 'AccessDenied' }, { when })
    const { code, stderr } = await scan('f')
    expect(code).toBe(2)
    expect(stderr).toMatch(/^aftercast: artifacts: s3:\/\/[^\n]*: the store denies access[^\n]*\n$/)
    await proxy.heal()
  })
})

describe('in a folder of two servers', () => {
  let library: TempLibrary
  let artifacts: string
  let first: StartedServer

  beforeAll(async () => {
    library = await createTempLibrary('shared')
    artifacts = path.join(library.folder, 'artifacts')
    await library.place('alice/2026-01-31/1.mp4', SMALL_FIXTURE)
    await library.place('alice/2026-01-31/2.flv', 'flv-h264-aac.flv')
    first = await start('first')
  })

  async function start(node: string, settings: NodeJS.ProcessEnv = {}): Promise<StartedServer> {
    return startServer({
      args: [library.recordings, '--data', path.join(library.folder, node)],
      environment: { AFTERCAST_ARTIFACTS: artifacts, ...settings },
    })
  }

  async function image({ url }: StartedServer, sessionId: string): Promise<Buffer> {
    const session = { streamer: 'alice', date: '2026-01-31', sessionId }
    const headers = { accept: 'image/webp' }
    const response = await fetch(url + thumbnailApiPath(session), { headers })
    expect(response.status).toBe(200)
    return Buffer.from(await response.arrayBuffer())
  }

  async function shared(extension: string): Promise<string[]> {
    const names = await readdir(artifacts, { recursive: true })
    return names
      .filter((name) => name.endsWith(extension))
      .map((name) => path.join(artifacts, name))
  }

  it('one makes indexes and images, and the other one serves them', async () => {
    const [one, two] = [await image(first, '1'), await image(first, '2')]
    expect(one.equals(two)).toBe(false)
    await expect.poll(async () => (await shared('.webp')).length, soon).toBe(2)
    await expect.poll(async () => (await shared('.index')).length, soon).toBe(2)
    const indexes = await shared('.index')
    const versions = await Promise.all(indexes.map(async (file) => (await stat(file)).mtimeMs))
    // An image that the second server cannot have made itself.
    const [imageA = '', imageB = ''] = await shared('.webp')
    await rename(imageA, `${imageA}.moved`)
    await rename(imageB, imageA)
    await rename(`${imageA}.moved`, imageB)
    const metrics = `127.0.0.1:${await findFreePort()}`
    const second = await start('second', { AFTERCAST_METRICS: metrics })
    expect((await image(second, '1')).equals(two)).toBe(true)
    expect((await image(second, '2')).equals(one)).toBe(true)
    const figures = await (await fetch(`http://${metrics}/metrics`)).text()
    expect(figures).toContain('aftercast_artifact_reads_total{result="hit"} 4\n')
    // Those of the recording which could have grown: it has no growth record of any release.
    expect(figures).toContain('aftercast_artifact_reads_total{result="miss"} 2\n')
    expect(figures).toContain('aftercast_artifacts_written_total 0\n')
    const after = await Promise.all(indexes.map(async (file) => (await stat(file)).mtimeMs))
    expect(after).toEqual(versions)
    expect(second.output()).not.toContain('"level":40')
  })
})

it('exits with 2 and one line that names the key if the folder cannot be written', async () => {
  const library = await createTempLibrary('unwritable')
  await library.place('alice/2026-01-31/1.mp4', SMALL_FIXTURE)
  const linked = path.join(library.folder, 'linked')
  await symlink(library.pathOf('alice'), linked)
  const environment = { AFTERCAST_ARTIFACTS: path.join(linked, 'inside') }
  const outside = { AFTERCAST_ARTIFACTS: path.join(library.folder, 'no', 'parent') }
  const inRecordings = await runInProcess(['scan', ...library.args], {
    workingFolder: library.folder,
    environment,
  })
  expect(inRecordings).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^aftercast: artifacts: .*inside the recordings\n$/),
  })
  const { code, stderr } = await runInProcess(['serve', ...library.args, '--port', '0'], {
    workingFolder: library.folder,
    environment: outside,
  })
  expect(code).toBe(2)
  expect(stderr).toMatch(/^aftercast: artifacts: [^\n]*no\/parent: [^\n]*ENOENT[^\n]*\n$/)
})
