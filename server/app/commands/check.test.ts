import { expect, it } from 'vitest'
import { AppError } from '../../errors.ts'
import { followInspections } from './check.ts'

const { signal } = new AbortController()

it('notes limitations, and recordings that cannot be read until they can', async () => {
  const limitations = [{ code: 'truncated', unit: 'box' } as const]
  let isReadable = false
  const { inspect, ...notes } = followInspections({
    async inspect({ path }) {
      if (path === 'closed.mp4' && !isReadable) throw new AppError('failed', 'permission denied')
      return { status: 'playable', durationSeconds: 1, limitations }
    },
  })
  await inspect({ path: 'open.mp4', kind: 'file' }, signal)
  await expect(inspect({ path: 'closed.mp4', kind: 'file' }, signal)).rejects.toThrow('denied')
  expect([...notes.unread]).toEqual(['closed.mp4'])
  expect([...notes.limitations]).toEqual([['open.mp4', limitations]])
  isReadable = true
  await inspect({ path: 'closed.mp4', kind: 'file' }, signal)
  expect(notes.unread.size).toBe(0)
})
