import { expect, test } from 'vitest'
import type { StorageEntry } from '../../../storage/recordings/storage.ts'
import { listSidecars, signSidecars } from './text-sidecars.ts'

function entry(name: string, version?: string, kind: 'file' | 'folder' = 'file'): StorageEntry {
  const stat = version === undefined ? {} : { stat: { sizeBytes: 1, modifiedMs: 1, version } }
  return { name, kind, ...stat }
}

const sign = (...entries: StorageEntry[]) => signSidecars(['a', 'b'], listSidecars(entries))

test('lists files with the endings of sidecars that have a stat', () => {
  const listed = listSidecars([
    entry('a.nfo', '1'),
    entry('a.info.json', '2'),
    entry('a.json', '3'),
    entry('b.nfo'),
    entry('c.nfo', '4', 'folder'),
  ])
  expect([...listed]).toEqual([
    ['a.nfo', '1'],
    ['a.info.json', '2'],
  ])
  expect(listSidecars([entry('a.ts', '1')]).size).toBe(0)
})

test('signs the versions of the sidecars with one of the names, in any order', () => {
  const signature = sign(entry('a.nfo', '1'), entry('b.info.json', '2'))
  expect(signature).toMatch(/^[\w-]{22}$/)
  // Of a release that read fewer fields.
  expect(signature).not.toBe('IgpMjJTyI5fHlbx4o1p15t')
  const same = [entry('b.info.json', '2'), entry('c.nfo', '9'), entry('a.nfo', '1')]
  expect(sign(...same)).toBe(signature)
  const others = [
    sign(entry('a.nfo', '2'), entry('b.info.json', '2')),
    sign(entry('a.nfo', '1'), entry('b.nfo', '2')),
    sign(entry('a.nfo', '1')),
    sign(entry('c.nfo', '1')),
  ]
  expect(new Set([signature, ...others]).size).toBe(5)
  expect(others.at(-1)).toBe('')
  expect(sign()).toBe('')
})
