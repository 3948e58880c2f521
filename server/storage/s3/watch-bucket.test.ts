import { expect, test } from 'vitest'
import { AppError } from '../../errors.ts'
import type { ListPage } from './bucket.ts'
import { watchBucket } from './watch-bucket.ts'

/** Versions by key, as they are at one time; undefined while the store is unavailable. */
type Objects = Record<string, string> | undefined

/** What is reported after each listing of a bucket with these contents, two keys per page. */
async function watch(...contents: Objects[]): Promise<string[][]> {
  const reported: string[][] = []
  const stop = new AbortController()
  const pages: number[] = []
  let current: string[] = []
  let at = 0
  async function* list({ prefix }: { prefix: string }): AsyncGenerator<ListPage, void> {
    const objects = contents[at]
    if (objects === undefined) throw new AppError('busy', 'the store is unavailable')
    const keys = Object.keys(objects).toSorted()
    for (let start = 0; start === 0 || start < keys.length; start += 2) {
      const page = keys.slice(start, start + 2).map((key) => {
        const stat = { sizeBytes: 1, modifiedMs: 0, version: objects[key] ?? '' }
        return { key: prefix + key, stat, etag: undefined }
      })
      yield { objects: page, prefixes: [] }
    }
  }
  const pause = async (count: number): Promise<void> => {
    pages.push(count)
    reported.push(current.toSorted())
    current = []
    at += 1
    if (at === contents.length) stop.abort()
  }
  const onChange = (folder: string): void => void current.push(folder)
  await watchBucket({ bucket: { list }, prefix: 'lib/', onChange, pause }, stop.signal)
  expect(pages).toEqual(
    contents.map((objects) => Math.max(1, Math.ceil(Object.keys(objects ?? {}).length / 2))),
  )
  return reported
}

test('reports the start, then the folders of added, replaced and removed objects', async () => {
  const first = { 'a/1.ts': 'x', 'a/2.ts': 'x', 'b/c/3.ts': 'x', 'root.ts': 'x' }
  expect(
    await watch(
      first,
      first,
      { ...first, 'a/1.ts': 'y' },
      { 'a/1.ts': 'y', 'a/2.ts': 'x', 'root.ts': 'x' },
      { 'a/1.ts': 'y', 'a/2.ts': 'x', 'd/4.ts': 'x' },
    ),
  ).toEqual([[''], [], ['a'], ['b/c'], ['', 'd']])
})

test('reports what changed while the store was unavailable', async () => {
  expect(await watch(undefined, { 'a/1': 'x' }, undefined, { 'a/1': 'y' })).toEqual([
    [],
    [''],
    [],
    ['a'],
  ])
})

test('reports two objects whose names are exchanged', async () => {
  expect(await watch({ 'a/1': 'x', 'a/2': 'y' }, { 'a/1': 'y', 'a/2': 'x' })).toEqual([[''], ['a']])
})
