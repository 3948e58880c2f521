import { expect, it } from 'vitest'
import { createAdmission } from '../../../base/admission/limits.ts'
import { ThumbnailSources } from './thumbnail-sources.ts'

it('the memory for names of files does not grow with the number of folders', async () => {
  const files = Array.from({ length: 100_000 }, (_, n) => ({ name: `${n}`, kind: 'file' as const }))
  const listed: string[] = []
  const unused = (): never => expect.unreachable()
  const sources = new ThumbnailSources({
    catalog: { findSession: unused, newestSessions: unused },
    storage: {
      list: async (folder) => {
        listed.push(folder)
        return Promise.resolve(files)
      },
      open: unused,
      stat: unused,
    },
    sessions: { openListed: unused },
    admission: createAdmission(),
  })
  for (const folder of ['a', 'a', 'b', 'c', 'a']) await sources.hasAvatar(folder)
  expect(listed).toEqual(['a', 'b', 'c', 'a'])
})
