// Folders that are there, missing, or empty like the place of a mount, and storage that hangs.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { AppError } from '../../../base/errors.ts'
import { FolderStorage } from '../../../storage/recordings/folder/folder-storage.ts'
import { LibraryProbe } from './library-probe.ts'
import { makeTempFolder } from '../../../../test/support/temp-folder.ts'

let base: string
let root: string
let isExpected: boolean
let problems: (string | undefined)[]

beforeEach(() => {
  base = makeTempFolder('probe')
  root = join(base, 'library')
  isExpected = true
  problems = []
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => vi.useRealTimers())

function probeOf(hasContent: () => Promise<boolean>): LibraryProbe {
  const onChange = (problem: AppError | undefined): void => void problems.push(problem?.code)
  return new LibraryProbe({ hasContent, isExpected: () => isExpected, onChange })
}

function folderProbe(): LibraryProbe {
  const storage = new FolderStorage(root)
  return probeOf(async () => storage.hasContent())
}

/** The next check, after the last result has expired. */
async function checkLater(probe: LibraryProbe): Promise<boolean> {
  await vi.advanceTimersByTimeAsync(5000)
  return probe.check()
}

test('is not usable without its folder, nor where it is empty and the catalog is not', async () => {
  const probe = folderProbe()
  expect(probe.isUsable).toBe(false)
  expect(await probe.check()).toBe(false)
  mkdirSync(root)
  expect(await checkLater(probe)).toBe(false)
  mkdirSync(join(root, '.hidden'))
  expect(await checkLater(probe)).toBe(false)
  mkdirSync(join(root, 'alice'))
  expect(await checkLater(probe)).toBe(true)
  expect(probe.isUsable).toBe(true)
  expect(problems).toEqual(['not_found', undefined])
})

test('is usable where an empty catalog is of an empty folder', async () => {
  mkdirSync(root)
  isExpected = false
  const probe = folderProbe()
  expect(await probe.check()).toBe(true)
  expect(probe.isEmpty).toBe(true)
  // The catalog of other nodes has arrived.
  isExpected = true
  expect(await probe.check()).toBe(false)
  expect(probe.isUsable).toBe(false)
  expect(problems).toEqual(['failed'])
})

test('is usable after everything was deleted, but not after the disk was unmounted', async () => {
  mkdirSync(root)
  writeFileSync(join(root, '1.ts'), '')
  const probe = folderProbe()
  expect(await probe.check()).toBe(true)
  rmSync(join(root, '1.ts'))
  expect(await checkLater(probe)).toBe(true)
  renameSync(root, join(base, 'disk'))
  mkdirSync(root)
  // For a moment it is only not begun with.
  for (const isUsable of [true, true, true, false]) {
    expect(await checkLater(probe)).toBe(false)
    expect([probe.isUsable, probe.isReady]).toEqual([isUsable, false])
  }
  expect(problems).toEqual(['failed'])
})

test('is not usable while a call hangs, which is the only one', async () => {
  const calls: PromiseWithResolvers<boolean>[] = []
  const probe = probeOf(async () => {
    const call = Promise.withResolvers<boolean>()
    calls.push(call)
    return call.promise
  })
  const first = probe.check()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await first).toBe(false)
  await vi.advanceTimersByTimeAsync(5000)
  // No wait, and no further call.
  expect(await probe.check()).toBe(false)
  expect(await checkLater(probe)).toBe(false)
  expect(calls).toHaveLength(1)
  expect(problems).toEqual(['busy'])
  calls[0]?.resolve(true)
  await vi.advanceTimersByTimeAsync(0)
  expect(probe.isUsable).toBe(true)
  expect(problems).toEqual(['busy', undefined])
})
