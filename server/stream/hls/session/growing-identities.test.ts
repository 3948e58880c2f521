// Identities of growing recordings in several processes and on several nodes, over real stores: a
// folder of one node, a folder that nodes share, and a bucket.
import { createHash } from 'node:crypto'
import { mkdir, rename, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createBucket } from '../../../../test/support/servers/bucket.ts'
import { startFaultProxy } from '../../../../test/support/servers/fault-proxy.ts'
import type { FaultProxy } from '../../../../test/support/servers/fault-proxy.ts'
import { awsEnvironment, startObjectStore } from '../../../../test/support/servers/object-store.ts'
import type { StartedObjectStore } from '../../../../test/support/servers/object-store.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'
import { nameArtifact } from '../../../storage/artifacts/artifact-store.ts'
import { openArtifacts } from '../../../storage/artifacts/open-artifacts.ts'
import { SharedArtifacts } from '../../../storage/artifacts/shared-artifacts.ts'
import { readRangeHash } from '../../../media/index/identity.ts'
import { FolderStorage } from '../../../storage/recordings/folder/folder-storage.ts'
import type { StorageLocation } from '../../../storage/recordings/storage-location.ts'
import { GrowingIdentities } from './growing-identities.ts'
import type { GrowingIdentity, GrowingState } from './growing-identities.ts'
import { GrowthRecords, NotRecorded } from './growth-records.ts'

const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }
const START = 'the same start, '
const TAIL_BYTES = 8
const SETTLE_MS = 1000

let store: StartedObjectStore
let proxy: FaultProxy
let bucket: string
/** Of one test: recordings, records and artifacts. */
let base: string
let recordings: string
let errors: unknown[]

beforeAll(async () => {
  store = await startObjectStore()
  proxy = await startFaultProxy(store)
  bucket = (await createBucket(store)).name
})

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  for (const [name, value] of Object.entries(awsEnvironment(proxy.store))) vi.stubEnv(name, value)
  base = makeTempFolder('growing')
  recordings = path.join(base, 'recordings')
  await mkdir(recordings)
  await mkdir(path.join(base, 'shared'))
  errors = []
})

afterEach(async () => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
  await proxy.heal()
})

/** A process without any memory of others. Those of one node have its folder. */
type OpenProcess = (node: string) => Promise<GrowingIdentities>

const inOneFolder: OpenProcess = async () => openProcess('node', undefined)
const inSharedFolder: OpenProcess = async (node) => openProcess(node, folderLocation())
const inBucket: OpenProcess = async (node) => openProcess(node, bucketLocation())

function folderLocation(): StorageLocation {
  return { kind: 'folder', path: path.join(base, 'shared') }
}

function bucketLocation(): StorageLocation {
  return { kind: 's3', bucket, prefix: `${path.basename(base)}/`, pathStyle: true }
}

async function openProcess(
  node: string,
  location: StorageLocation | undefined,
): Promise<GrowingIdentities> {
  const shared = location && (await openShared(location))
  const folder = path.join(base, node)
  const onWriteError = (error: unknown) => void errors.push(error)
  const records = new GrowthRecords({ folder, shared, onWriteError })
  return new GrowingIdentities(new FolderStorage(recordings), records, onWriteError)
}

async function openShared(location: StorageLocation): Promise<SharedArtifacts> {
  const log = { warn: () => undefined }
  return new SharedArtifacts({ store: await openArtifacts(location), log })
}

/** Writes a recording. `rest` follows the bytes that all recordings start with. */
async function write(name: string, rest: string): Promise<void> {
  await writeFile(path.join(recordings, name), START + rest)
}

interface Seen {
  name: string
  state: GrowingState
  /** What may be listed. */
  content: string
}

/** A recording as a process sees it now. */
async function see(name: string, changes: Partial<GrowingState> = {}): Promise<Seen> {
  const storage = new FolderStorage(recordings)
  const file = await storage.open(name)
  const bytes = Buffer.alloc(file.stat.sizeBytes)
  await file.read(bytes, 0)
  const mark = async (offset: number) => {
    const range = { offset, length: TAIL_BYTES }
    return { ...range, hash: (await readRangeHash(file, range)) ?? '' }
  }
  const isGrowing = changes.isGrowing ?? true
  const state: GrowingState = {
    mark: { start: await mark(0), tail: await mark(bytes.length - TAIL_BYTES) },
    stat: file.stat,
    isGrowing,
    form: 'ts',
    counts: { audioTracks: 1, subtitles: 0 },
    isListedAsGrowing: isGrowing,
    wasListedHere: false,
    ...changes,
  }
  await file.close()
  return { name, state, content: bytes.toString() }
}

async function identify(
  process: GrowingIdentities,
  { name, state }: Seen,
): Promise<GrowingIdentity | undefined> {
  const reference = { session, path: name, name: path.parse(name).name }
  return process.identify(reference, state)
}

async function identifyNow(
  process: GrowingIdentities,
  name: string,
  changes?: Partial<GrowingState>,
): Promise<GrowingIdentity | undefined> {
  return identify(process, await see(name, changes))
}

describe.each([
  ['two processes of a node', inOneFolder],
  ['two nodes with a folder', inSharedFolder],
  ['two nodes with a bucket', inBucket],
])('%s', (_kind, open) => {
  it('agree on a recording that one of them listed when both had listed another', async () => {
    const [one, other] = [await open('a'), await open('b')]
    await write('1.ts', 'first part')
    const first = await identifyNow(one, '1.ts')
    expect(await identifyNow(other, '1.ts')).toEqual(first)
    await write('2.ts', 'second part')
    const second = await identifyNow(one, '2.ts')
    // No recording settles in less time.
    vi.advanceTimersByTime(SETTLE_MS)
    const finished = await identifyNow(other, '2.ts', { isGrowing: false })
    expect(finished).toMatchObject({ identity: second?.identity, mayGrow: false })
    expect(errors).toEqual([])
  })

  it('lose nothing when they record at once', async () => {
    const names = Array.from({ length: 5 }, (_, i) => `${i}.ts`)
    for (const name of names) await write(name, `part ${name}`)
    const [one, other] = [await open('a'), await open('b')]
    const all = names.map(async (name, i) => identifyNow(i % 2 === 0 ? one : other, name))
    const identities = (await Promise.all(all)).map((found) => found?.identity)
    const later = await open('c')
    const finished = names.map(async (name) => identifyNow(later, name, { isGrowing: false }))
    expect((await Promise.all(finished)).map((found) => found?.identity)).toEqual(identities)
    expect(new Set(identities).size).toBe(names.length)
    expect(errors).toEqual([])
  })

  it('never have one identity for what was listed and for what replaced it', async () => {
    const [one, other] = [await open('a'), await open('b')]
    await write('1.ts', 'begins so')
    const first = await identifyNow(one, '1.ts')
    expect(await identifyNow(other, '1.ts')).toEqual(first)
    await write('1.ts', 'begins so, and one lists this')
    expect(await identifyNow(one, '1.ts')).toEqual(first)
    await write('1.ts', 'begins so, but other bytes come after a crash')
    const second = await identifyNow(other, '1.ts')
    expect(second?.identity).not.toBe(first?.identity)
    expect(await identifyNow(await open('c'), '1.ts')).toEqual(second)
    expect(await identifyNow(one, '1.ts')).toEqual(second)
  })

  it.each(['__proto__.ts', 'constructor.ts'])('know a recording of any name: %s', async (name) => {
    const one = await open('a')
    await write(name, 'begins so, and one lists this')
    const first = await identifyNow(one, name)
    await write(name, 'begins so, but other bytes come after a crash')
    const second = await identifyNow(await open('b'), name)
    expect(second?.identity).not.toBe(first?.identity)
    const finished = await identifyNow(await open('c'), name, { isGrowing: false })
    expect(finished?.identity).toBe(second?.identity)
  })

  it('never give one generation to what both see at once', async () => {
    const processes = [await open('a'), await open('b'), await open('a'), await open('b')]
    const listed = new Map<string, string>()
    for (let round = 0; round < 4; round += 1) {
      const seen: Seen[] = []
      for (const number of processes.keys()) {
        await write('1.ts', `${round}${number}`)
        seen.push(await see('1.ts'))
      }
      const work = processes.map(async (process, i) => {
        const mine = seen[i]
        // What is not in the file any more is refused.
        const found = mine && (await identify(process, mine).catch(() => undefined))
        return { identity: found?.identity, content: mine?.content ?? '' }
      })
      for (const { identity, content } of await Promise.all(work)) {
        if (identity === undefined) continue
        const before = listed.get(identity) ?? ''
        const [short, long] = [before, content].toSorted((a, b) => a.length - b.length)
        expect(long?.startsWith(short ?? '')).toBe(true)
        listed.set(identity, long ?? '')
      }
    }
    expect(listed.size).toBeGreaterThanOrEqual(4)
    expect(errors).toEqual([])
  })

  it('keep the identity of a recording that only one of them has seen finished', async () => {
    const [one, other] = [await open('a'), await open('b')]
    await write('1.ts', 'begins so')
    const early = await see('1.ts')
    const first = await identify(one, early)
    await write('1.ts', 'begins so, and ends')
    const last = await identifyNow(one, '1.ts', { isGrowing: false })
    expect(last?.identity).toBe(first?.identity)
    await expect(identify(other, early)).rejects.toMatchObject({ code: 'busy' })
    expect(await identifyNow(other, '1.ts', { isGrowing: false })).toEqual(last)
  })
})

describe('one process', () => {
  it('keeps the identity of a recording that ends, is renamed, and is continued', async () => {
    await write('1.ts', 'begins so')
    const first = await identifyNow(await inOneFolder(''), '1.ts')
    await write('1.ts', 'begins so, and ends')
    const finished = await identifyNow(await inOneFolder(''), '1.ts', { isGrowing: false })
    expect(finished).toEqual({ ...first, mayGrow: false })
    await rename(path.join(recordings, '1.ts'), path.join(recordings, '1.mp4'))
    const renamed = await identifyNow(await inOneFolder(''), '1.mp4', { isGrowing: false })
    expect(renamed).toEqual(finished)
    await write('1.mp4', 'begins so, and ends, and continues')
    expect(await identifyNow(await inOneFolder(''), '1.mp4')).toEqual(first)
  })

  it('keeps it if the recorder renames the file after it was read', async () => {
    await write('1.ts', 'begins so')
    const process = await inOneFolder('')
    const first = await identifyNow(process, '1.ts')
    const seen = await see('1.ts')
    await rename(path.join(recordings, '1.ts'), path.join(recordings, '1.m2ts'))
    await expect(identify(process, seen)).rejects.toMatchObject({ code: 'not_found' })
    expect(await identifyNow(process, '1.m2ts')).toEqual(first)
  })

  it('gives another one to a finished recording that changes without growing', async () => {
    await write('1.ts', 'begins so')
    const first = await identifyNow(await inOneFolder(''), '1.ts')
    await identifyNow(await inOneFolder(''), '1.ts', { isGrowing: false })
    await utimes(path.join(recordings, '1.ts'), 1, 1)
    // Just written, so it seems to grow.
    const second = await identifyNow(await inOneFolder(''), '1.ts')
    expect(second?.identity).not.toBe(first?.identity)
    expect(second?.mayGrow).toBe(false)
    await utimes(path.join(recordings, '1.ts'), 2, 2)
    const third = await identifyNow(await inOneFolder(''), '1.ts', { isGrowing: false })
    expect([first?.identity, second?.identity]).not.toContain(third?.identity)
    const again = await identifyNow(await inOneFolder(''), '1.ts', { isGrowing: false })
    expect(again).toEqual(third)
  })

  it('has no identity for a recording that was never listed while growing', async () => {
    await write('1.ts', 'begins so')
    const process = await inOneFolder('')
    expect(await identifyNow(process, '1.ts', { isGrowing: false })).toBeUndefined()
    expect(await process.wasListed(session)).toBe(false)
  })
})

describe('records of the releases before', () => {
  const names = [session.streamer, session.date, session.sessionId]

  /** Of the recording as it is, in a generation that only the record has. */
  async function earlierRecord(name: string): Promise<{ json: string; identity: string }> {
    const { mark, form } = (await see(name)).state
    const recording = path.parse(name).name
    const record = { generation: 7, startHash: mark.start.hash, tail: mark.tail, form }
    const counts = { ['sounds']: 1, texts: 0 }
    const json = JSON.stringify({
      format: 'aftercast-grown-1',
      session: names,
      recordings: { [recording]: { ...record, counts } },
    })
    const facts = JSON.stringify(['grown', ...names, recording, 7, mark.start.hash])
    return { json, identity: createHash('sha256').update(facts).digest('base64url') }
  }

  async function writeEarlier(node: string, json: string): Promise<void> {
    const hash = createHash('sha256').update(JSON.stringify(names)).digest('hex')
    await mkdir(path.join(base, node, hash.slice(0, 2)), { recursive: true })
    await writeFile(path.join(base, node, hash.slice(0, 2), `${hash.slice(2)}.json`), json)
  }

  it('keep the identity after an upgrade', async () => {
    await write('1.ts', 'begins so')
    const { json, identity } = await earlierRecord('1.ts')
    await writeEarlier('node', json)
    const finished = await identifyNow(await inOneFolder(''), '1.ts', { isGrowing: false })
    expect(finished?.identity).toBe(identity)
    expect((await identifyNow(await inOneFolder(''), '1.ts'))?.identity).toBe(identity)
  })

  it.each([
    ['a folder', inSharedFolder, folderLocation],
    ['a bucket', inBucket, bucketLocation],
  ])('keep it on all nodes with %s', async (_kind, open, locate) => {
    await write('1.ts', 'begins so')
    await write('2.ts', 'begins otherwise')
    const shared = await earlierRecord('1.ts')
    const artifacts = await openShared(locate())
    const make = () => Buffer.from(shared.json)
    artifacts.share(nameArtifact('grown-1', names, 'json'), { sizeBytes: 1, make })
    await artifacts.close()
    const own = await earlierRecord('2.ts')
    await writeEarlier('a', own.json)
    const identityOf = async (node: string, name: string) =>
      (await identifyNow(await open(node), name, { isGrowing: false }))?.identity
    expect(await identityOf('a', '1.ts')).toBe(shared.identity)
    expect(await identityOf('a', '2.ts')).toBe(own.identity)
    expect(await identityOf('b', '1.ts')).toBe(shared.identity)
    expect(await identityOf('b', '2.ts')).toBe(own.identity)
  })
})

describe('while the store is unavailable', () => {
  it('a new recording has an identity that no other process has', async () => {
    const [one, other] = [await inBucket('a'), await inBucket('b')]
    await proxy.refuse()
    await write('1.ts', 'begins so')
    const first = await identifyNow(one, '1.ts')
    expect(first?.isLasting).toBe(false)
    expect(await identifyNow(one, '1.ts')).toEqual(first)
    expect((await identifyNow(other, '1.ts'))?.identity).not.toBe(first?.identity)
    await write('1.ts', 'begins so, and grows')
    expect(await identifyNow(one, '1.ts')).toEqual(first)
    await write('1.ts', 'is replaced')
    expect((await identifyNow(one, '1.ts'))?.identity).not.toBe(first?.identity)
    expect(errors.length).toBeGreaterThan(0)
    await proxy.heal()
    const [third, fourth] = [await inBucket('a'), await inBucket('b')]
    const recorded = await identifyNow(third, '1.ts')
    expect(recorded?.isLasting).toBe(true)
    expect(await identifyNow(fourth, '1.ts')).toEqual(recorded)
  })

  it('nothing more is listed of a recording that this process has listed', async () => {
    const process = await inBucket('a')
    await write('1.ts', 'begins so')
    const first = await identifyNow(process, '1.ts')
    await proxy.refuse()
    // It needs no record.
    expect(await identifyNow(process, '1.ts')).toEqual(first)
    await write('1.ts', 'begins so, and grows')
    const more = identifyNow(process, '1.ts', { wasListedHere: true })
    await expect(more).rejects.toBeInstanceOf(NotRecorded)
    await proxy.heal()
    expect(await identifyNow(await inBucket('a'), '1.ts')).toEqual(first)
  })

  it('the own copy identifies what it has', async () => {
    await write('1.ts', 'begins so')
    const first = await identifyNow(await inBucket('a'), '1.ts')
    await identifyNow(await inBucket('a'), '1.ts', { isGrowing: false })
    await proxy.refuse()
    const finished = await identifyNow(await inBucket('a'), '1.ts', { isGrowing: false })
    expect(finished?.identity).toBe(first?.identity)
  })
})
