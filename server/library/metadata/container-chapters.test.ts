import { expect, it } from 'vitest'
import { runForClient } from '../../base/admission/client.ts'
import { Gate } from '../../base/admission/gate.ts'
import { ContainerChapters } from './container-chapters.ts'

it('reads the recordings of all requests one after the other, each once', async () => {
  const { signal } = new AbortController()
  const gate = new Gate({ limit: 1, waiting: 1, busyMessage: 'full' })
  const read: string[] = []
  const chapters = new ContainerChapters({
    read: async (path) => {
      read.push(path)
      return { version: '1', chapters: [{ startSeconds: 0, title: path }] }
    },
    gate,
    signal,
  })
  const find = async (path: string) =>
    chapters.find([{ path, version: '1', startSeconds: 0, durationSeconds: 9 }])
  const release = await gate.enter(signal)
  const waiting = [find('a.mp4'), find('a.mp4')]
  await expect(find('b.mp4')).rejects.toMatchObject({ code: 'busy' })
  expect(read).toEqual([])
  release()
  for (const found of await Promise.all(waiting)) expect(found).toMatchObject([{ title: 'a.mp4' }])
  expect(read).toEqual(['a.mp4'])
})

it('reads for a client that joins, even if the first one waits for too much', async () => {
  const { signal } = new AbortController()
  const gate = new Gate({ limit: 1, waiting: 2, busyMessage: 'full' })
  const chapters = new ContainerChapters({
    read: async () => ({ version: '1', chapters: [{ startSeconds: 0, title: 'found' }] }),
    gate,
    signal,
  })
  const as = <Value>(client: string, work: () => Value) => runForClient(() => client, work)
  const source = { path: 'a.mp4', version: '1', startSeconds: 0, durationSeconds: 9 }
  const release = await gate.enter(signal)
  const other = as('first', () => gate.enter(signal))
  const found = ['first', 'second'].map((client) => as(client, () => chapters.find([source])))
  const third = as('third', () => gate.enter(signal).catch((error: unknown) => error))
  release()
  const leave = await other
  leave()
  for (const list of await Promise.all(found)) expect(list).toMatchObject([{ title: 'found' }])
  expect(await third).toMatchObject({ code: 'busy' })
})
