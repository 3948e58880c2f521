import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'
import { FolderArtifacts } from '../../../storage/artifacts/folder-artifacts.ts'
import { SharedArtifacts } from '../../../storage/artifacts/shared-artifacts.ts'
import { ServedIdentities } from './served-identities.ts'

const PATH = 'alice/2026-01-31/1001.mkv'
const sampled = { identity: 'samples', isExact: false }

let folder: string
let errors: unknown[]

beforeEach(() => {
  folder = makeTempFolder('served')
  errors = []
})

/** As in another process, or after a restart. */
function open(at = folder, shared?: SharedArtifacts): ServedIdentities {
  return new ServedIdentities({ folder: at, shared, onWriteError: (error) => errors.push(error) })
}

/** As on another node. */
function openNode(name: string): ServedIdentities {
  const store = new FolderArtifacts(folder)
  const log = { warn: (_details: object, message: string) => expect.unreachable(message) }
  return open(path.join(folder, name), new SharedArtifacts({ store, log }))
}

async function identify(served: ServedIdentities, version: string, at = PATH): Promise<string> {
  const found = await served.identify(at, sampled, { sizeBytes: 1, modifiedMs: 1, version })
  expect(found.isLasting).toBe(errors.length === 0)
  return found.identity
}

test('the same file has one identity, in every process and on every machine', async () => {
  const first = await identify(open(), 'a')
  expect(await identify(open(), 'a')).toBe(first)
  expect(await identify(open(path.join(folder, 'elsewhere')), 'b')).toBe(first)
  expect(errors).toEqual([])
})

test('a changed file has another identity, for ever', async () => {
  const first = await identify(open(), 'a')
  const second = await identify(open(), 'b')
  expect(second).not.toBe(first)
  expect(await identify(open(), 'b')).toBe(second)
  const third = await identify(open(), 'c')
  expect([first, second]).not.toContain(third)
  expect(await identify(open(), 'a')).toBe(first)
})

test('two processes that see different files at once never use one identity', async () => {
  const versions = Array.from({ length: 20 }, (_, i) => `${i}`)
  const identities = await Promise.all(versions.map((version) => identify(open(), version)))
  expect(new Set(identities).size).toBe(versions.length)
})

test('nodes agree on the identities of a file that some of them saw after a change', async () => {
  const first = await identify(openNode('a'), 'a')
  const second = await identify(openNode('a'), 'b')
  expect(second).not.toBe(first)
  expect(await identify(openNode('b'), 'b')).toBe(second)
  expect(await identify(openNode('b'), 'a')).toBe(first)
  const versions = Array.from({ length: 10 }, (_, i) => `${i}`)
  const found = await Promise.all(
    versions.map((version, node) => identify(openNode(`${node}`), version, 'alice/x.mkv')),
  )
  expect(new Set(found).size).toBe(versions.length)
})

test('an exact identity does not depend on the version', async () => {
  const exact = { identity: 'all bytes', isExact: true }
  const [one, other] = ['a', 'b'].map((version) =>
    open().identify(PATH, exact, { sizeBytes: 1, modifiedMs: 1, version }),
  )
  expect(await one).toEqual(await other)
})

test('files of other paths have other identities, a renamed download has the same', async () => {
  const first = await identify(open(), 'a')
  expect(await identify(open(), 'a', `${PATH}.part`)).toBe(first)
  for (const other of ['1001.webm', '1002.mkv', 'x/1001.mkv'])
    expect(await identify(open(), 'a', `alice/2026-01-31/${other}`)).not.toBe(first)
  const run = 'alice/2026-01-31/1001/list.m3u8'
  expect(await identify(open(), 'a', `${run}/0`)).not.toBe(await identify(open(), 'a', `${run}/1`))
})

test('without a record, each version has an identity of its own', async () => {
  const recorded = await identify(open(), 'a')
  await writeFile(path.join(folder, 'file'), '')
  const unwritable = open(path.join(folder, 'file'))
  const [first, second] = [await identify(unwritable, 'a'), await identify(unwritable, 'b')]
  expect(new Set([recorded, first, second]).size).toBe(3)
  expect(errors).toHaveLength(2)
})
