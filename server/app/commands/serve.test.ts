import { expect, it } from 'vitest'
import { endOfService } from './serve.ts'

it('ends the service of a process that is stopped while its scan waits for storage', async () => {
  const waiting = { ended: Promise.withResolvers<void>().promise }
  const stopping = new AbortController()
  const ended = endOfService(waiting, stopping.signal)
  stopping.abort()
  await expect(ended).resolves.toBeUndefined()
  await expect(endOfService(waiting, stopping.signal)).resolves.toBeUndefined()
})

it('ends the service with its scan', async () => {
  const { signal } = new AbortController()
  await endOfService({ ended: Promise.resolve() }, signal)
  const failed = { ended: Promise.reject(new Error('the catalog is corrupt')) }
  await expect(endOfService(failed, signal)).rejects.toThrow('corrupt')
})
