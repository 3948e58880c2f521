import { expect, test } from 'vitest'
import { AppError } from '../../../base/errors.ts'
import type { ListOptions, ListPage } from './bucket.ts'
import { watchBucket } from './watch-bucket.ts'

/** Versions by key, as they are at one time. */
type Objects = Record<string, string>

interface Watched {
  /** What is reported between two listings. */
  reported: string[][]
  /** The first key of each page that is requested. */
  requested: number[]
  pauses: number[]
}

/** Watches a bucket with these contents in turn, two keys per page. */
async function watch(contents: Objects[], failures: AppError[] = []): Promise<Watched> {
  const watched: Watched = { reported: [], requested: [], pauses: [] }
  const stop = new AbortController()
  let current: string[] = []
  let listed = 0
  async function* list({ prefix, from = '0' }: ListOptions): AsyncGenerator<ListPage, void> {
    const objects = contents[listed] ?? {}
    const keys = Object.keys(objects).toSorted()
    for (let start = Number(from); ; start += 2) {
      watched.requested.push(start)
      // The first page of each listing is read.
      const failure = start > 0 ? failures.shift() : undefined
      if (failure !== undefined) throw failure
      const page = keys.slice(start, start + 2).map((key) => {
        const stat = { sizeBytes: 1, modifiedMs: 0, version: objects[key] ?? '' }
        return { key: prefix + key, stat, etag: undefined }
      })
      const next = start + 2 < keys.length ? String(start + 2) : undefined
      if (next === undefined) listed += 1
      yield { objects: page, prefixes: [], next }
      if (next === undefined) return
    }
  }
  const pause = async (milliseconds: number): Promise<void> => {
    watched.pauses.push(milliseconds)
    if (listed === watched.reported.length) return
    watched.reported.push(current.toSorted())
    current = []
    if (listed === contents.length) stop.abort()
  }
  const onChange = (folder: string): void => void current.push(folder)
  const options = { bucket: { list }, prefix: 'lib/', onChange, pause, random: () => 0 }
  await watchBucket(options, stop.signal)
  return watched
}

test('reports the start, then the folders of added, replaced and removed objects', async () => {
  const first = { 'a/1.ts': 'x', 'a/2.ts': 'x', 'b/c/3.ts': 'x', 'root.ts': 'x' }
  const { reported, pauses } = await watch([
    first,
    first,
    { ...first, 'a/1.ts': 'y' },
    { 'a/1.ts': 'y', 'a/2.ts': 'x', 'root.ts': 'x' },
    { 'a/1.ts': 'y', 'a/2.ts': 'x', 'd/4.ts': 'x' },
  ])
  expect(reported).toEqual([[''], [], ['a'], ['b/c'], ['', 'd']])
  expect(pauses).toEqual([3000, 3000, 3000, 3000, 3000])
})

test('reports two objects whose names are exchanged', async () => {
  const { reported } = await watch([
    { 'a/1': 'x', 'a/2': 'y' },
    { 'a/1': 'y', 'a/2': 'x' },
  ])
  expect(reported).toEqual([[''], ['a']])
})

const eight = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`${i}/1`, 'x']))

test('continues at the page for which the store is unavailable, later each time', async () => {
  const busy = (): AppError => new AppError('busy', 'the store is unavailable')
  const failures = Array.from({ length: 7 }, busy)
  const { reported, requested, pauses } = await watch([eight, { ...eight, '3/1': 'y' }], failures)
  expect(reported).toEqual([[''], ['3']])
  expect(requested).toEqual([0, ...Array(8).fill(2), 4, 6, 0, 2, 4, 6])
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 4000, 4000])
})

test('starts again if the store refuses a page, and reports nothing as removed', async () => {
  const refused = new AppError('failed', 'the store refuses the request')
  const { reported, requested } = await watch([eight], [refused])
  expect(reported).toEqual([['']])
  expect(requested).toEqual([0, 2, 0, 2, 4, 6])
})
