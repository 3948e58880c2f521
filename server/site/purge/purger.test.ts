import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { Purger } from './purger.ts'

it('a cache that answers gets all tags, however many there are', async () => {
  const stopping = new AbortController()
  const purged = new Set<string>()
  const cache = createServer(({ headers }, response) => {
    for (const tag of String(headers['surrogate-key']).split(' ')) purged.add(tag)
    response.end()
  })
  try {
    await once(cache.listen(0, '127.0.0.1'), 'listening')
    const address = cache.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`
    const purger = new Purger({
      urls: [url],
      onFailure: expect.unreachable,
      signal: stopping.signal,
    })
    const tags = Array.from({ length: 100_100 }, (_, number) => `streamer-${number}`)
    purger.purge(tags)
    await expect.poll(() => purged.size).toBe(tags.length)
  } finally {
    stopping.abort()
    cache.closeAllConnections()
    cache.close()
  }
})
