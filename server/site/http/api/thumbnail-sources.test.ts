import { expect, it } from 'vitest'
import { createAdmission } from '../../../base/admission/limits.ts'
import { ThumbnailSources } from './thumbnail-sources.ts'

function createSources(fileCount: number) {
  const files = Array.from({ length: fileCount }, (_, n) => ({
    name: `${n}`,
    kind: 'file' as const,
  }))
  const listed: string[] = []
  const slow = Promise.withResolvers<void>()
  const unused = (): never => expect.unreachable()
  const sources = new ThumbnailSources({
    catalog: { findSession: unused, newestSessions: unused },
    storage: {
      list: async (folder) => {
        listed.push(folder)
        if (folder === 'slow') await slow.promise
        return files
      },
      open: unused,
      stat: unused,
    },
    sessions: { openListed: unused },
    admission: createAdmission(),
  })
  return { sources, listed, endSlow: slow.resolve }
}

it('requests at the same time share the listing of a folder', async () => {
  const { sources, listed } = createSources(1)
  await Promise.all(['a', 'a', 'b', 'a'].map(async (folder) => sources.hasAvatar(folder)))
  expect(listed).toEqual(['a', 'b'])
})

it('the memory for names of files does not grow with the number of folders', async () => {
  const { sources, listed } = createSources(100_000)
  for (const folder of ['a', 'a', 'b', 'c', 'a']) await sources.hasAvatar(folder)
  expect(listed).toEqual(['a', 'b', 'c', 'a'])
})

it('a folder with more files than others together is listed once, too', async () => {
  const { sources, listed } = createSources(300_000)
  for (const folder of ['a', 'a']) await sources.hasAvatar(folder)
  expect(listed).toEqual(['a'])
})

it('a folder is listed to the end although others are listed meanwhile', async () => {
  const { sources, endSlow } = createSources(100_000)
  const listing = sources.hasAvatar('slow')
  for (const folder of ['a', 'b', 'c', 'd']) await sources.hasAvatar(folder)
  endSlow()
  expect(await listing).toBe(false)
})
