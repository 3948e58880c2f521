// The stores of artifacts, with the same tests for a folder and for a real object store.
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createBucket } from '../../../test/support/servers/bucket.ts'
import type { TestBucket } from '../../../test/support/servers/bucket.ts'
import { startFaultProxy } from '../../../test/support/servers/fault-proxy.ts'
import type { FaultProxy } from '../../../test/support/servers/fault-proxy.ts'
import { awsEnvironment, startObjectStore } from '../../../test/support/servers/object-store.ts'
import type { StartedObjectStore } from '../../../test/support/servers/object-store.ts'
import type { StorageLocation } from '../recordings/storage-location.ts'
import { nameArtifact } from './artifact-store.ts'
import { checkArtifacts, openArtifacts } from './open-artifacts.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

const { signal } = new AbortController()
const KEEP = { existing: 'keep', signal } as const
const REPLACE = { existing: 'replace', signal } as const

let store: StartedObjectStore
let proxy: FaultProxy
let bucket: TestBucket
let root: string
let folder: string

beforeAll(async () => {
  store = await startObjectStore()
  proxy = await startFaultProxy(store)
  bucket = await createBucket(store)
  root = makeTempFolder('artifacts')
  folder = join(root, 'shared')
  await mkdir(folder)
})

beforeEach(() => {
  for (const [name, value] of Object.entries(awsEnvironment(proxy.store))) vi.stubEnv(name, value)
  proxy.clear()
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await proxy.heal()
})

function bucketLocation(name = bucket.name): StorageLocation {
  return { kind: 's3', bucket: name, prefix: 'derived/', pathStyle: true }
}

function newName(): string {
  return nameArtifact('test-1', [randomBytes(8).toString('hex')], 'bin')
}

async function read(location: StorageLocation, name: string): Promise<Buffer | undefined> {
  const artifacts = await openArtifacts(location)
  const bytes = await artifacts.read(name, signal)
  artifacts.close()
  return bytes && Buffer.from(bytes)
}

describe.each([
  ['a folder', () => ({ kind: 'folder', path: folder }) as const],
  ['a bucket', () => bucketLocation()],
])('%s', (_kind, locate) => {
  it('returns what another node wrote, and nothing for other names', async () => {
    const artifacts = await openArtifacts(locate())
    const [name, bytes] = [newName(), randomBytes(3_000_000)]
    expect(await read(locate(), name)).toBeUndefined()
    await artifacts.write(name, () => bytes, KEEP)
    expect((await read(locate(), name))?.equals(bytes)).toBe(true)
    expect(await read(locate(), newName())).toBeUndefined()
    artifacts.close()
  })

  it('is not changed by a second writer, unless the artifact is corrupt', async () => {
    const artifacts = await openArtifacts(locate())
    const name = newName()
    await artifacts.write(name, () => Buffer.from('first'), KEEP)
    let made = 0
    await artifacts.write(name, () => Buffer.alloc((made += 1)), KEEP)
    expect(made).toBe(0)
    expect(String(await read(locate(), name))).toBe('first')
    await artifacts.write(name, () => Buffer.from('third'), REPLACE)
    expect(String(await read(locate(), name))).toBe('third')
    artifacts.close()
  })

  it('has all bytes of one writer when many write at once', async () => {
    const artifacts = await openArtifacts(locate())
    const name = newName()
    const writers = ['a', 'b', 'c', 'd'].map((letter) => Buffer.alloc(500_000, letter))
    await Promise.all(writers.map(async (bytes) => artifacts.write(name, () => bytes, KEEP)))
    const found = await read(locate(), name)
    expect(writers.filter((bytes) => found?.equals(bytes))).toHaveLength(1)
    artifacts.close()
  })

  it('replaces what changes by compare-and-set', async () => {
    const artifacts = await openArtifacts(locate())
    const name = newName()
    const replace = async (content: string, version?: string) =>
      artifacts.replace(name, Buffer.from(content), { version, signal })
    expect(await artifacts.readVersioned(name, signal)).toBeUndefined()
    const first = await replace('first')
    expect(await replace('too late')).toBeUndefined()
    const all = ['a', 'b', 'c', 'd'].map(async (content) => replace(content, first))
    const versions = (await Promise.all(all)).filter((version) => version !== undefined)
    expect(versions).toHaveLength(1)
    expect(await replace('too late', first)).toBeUndefined()
    expect((await artifacts.readVersioned(name, signal))?.version).toBe(versions[0])
    artifacts.close()
  })

  it('rejects with the reason of an aborted signal', async () => {
    const artifacts = await openArtifacts(locate())
    const aborted = AbortSignal.abort(new Error('abandoned'))
    await expect(artifacts.read(newName(), aborted)).rejects.toThrow('abandoned')
    const writing = artifacts.write(newName(), () => Buffer.from('x'), { ...KEEP, signal: aborted })
    await expect(writing).rejects.toThrow('abandoned')
    artifacts.close()
  })

  it('is checked by writing what it is for', async () => {
    await checkArtifacts(locate(), signal)
    await checkArtifacts(locate(), signal)
    expect(String(await read(locate(), 'README.txt'))).toContain('may be deleted')
  })
})

describe('a folder', () => {
  it('leaves nothing but artifacts', async () => {
    const alone = join(root, 'alone')
    await checkArtifacts({ kind: 'folder', path: alone }, signal)
    const artifacts = await openArtifacts({ kind: 'folder', path: alone })
    const name = newName()
    await artifacts.write(name, () => Buffer.from('bytes'), KEEP)
    await artifacts.write(name, () => Buffer.from('bytes'), KEEP)
    const entries = await readdir(alone, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map((entry) => entry.name)
    expect(new Set(files)).toEqual(new Set(['README.txt', name.split('/').at(-1)]))
    expect(await readFile(join(alone, name), 'utf8')).toBe('bytes')
  })

  it('is not created again after it was unmounted', async () => {
    const gone = join(root, 'gone')
    const artifacts = await openArtifacts({ kind: 'folder', path: gone })
    const writing = artifacts.write(newName(), () => Buffer.from('bytes'), KEEP)
    await expect(writing).rejects.toMatchObject({ code: 'failed', message: /ENOENT/ })
    expect(await readdir(root)).not.toContain('gone')
  })

  it('is refused at the start if it cannot be written', async () => {
    const file = join(root, 'file')
    await writeFile(file, '')
    for (const path of [file, join(file, 'inside'), join(root, 'no', 'parent')]) {
      const checking = checkArtifacts({ kind: 'folder', path }, signal)
      await expect(checking).rejects.toMatchObject({ code: 'failed' })
    }
  })
})

describe('a bucket', () => {
  it('is refused at the start if it does not exist', async () => {
    const checking = checkArtifacts(bucketLocation('no-such-bucket'), signal)
    await expect(checking).rejects.toMatchObject({ code: 'failed', message: /no such bucket/ })
  })

  it('is refused at the start if it cannot be written', async () => {
    const when = ({ operation }: { operation: string }) => operation === 'PutObject'
    proxy.inject({ kind: 'error', status: 403, code: 'AccessDenied' }, { when })
    const checking = checkArtifacts(bucketLocation(), signal)
    await expect(checking).rejects.toMatchObject({ code: 'failed', message: /denies access/ })
  })

  it('is refused at the start if it is unavailable, as something that may pass', async () => {
    await proxy.refuse()
    await expect(checkArtifacts(bucketLocation(), signal)).rejects.toMatchObject({ code: 'busy' })
  })

  it('is written where the store has no conditional PUT', async () => {
    const artifacts = await openArtifacts(bucketLocation())
    const name = newName()
    const when = ({ operation }: { operation: string }) => operation === 'PutObject'
    const fault = { kind: 'error', status: 501, code: 'NotImplemented' } as const
    const injected = proxy.inject(fault, { when, times: 1 })
    await artifacts.write(name, () => Buffer.from('bytes'), KEEP)
    expect(injected.count()).toBe(1)
    expect(String(await read(bucketLocation(), name))).toBe('bytes')
    artifacts.close()
  })

  it('never returns a part of an artifact', async () => {
    const artifacts = await openArtifacts(bucketLocation())
    const name = newName()
    await artifacts.write(name, () => randomBytes(1_000_000), KEEP)
    proxy.inject({ kind: 'cut', afterBytes: 200_000 })
    await expect(artifacts.read(name, signal)).rejects.toMatchObject({ code: 'busy' })
    artifacts.close()
  })
})
