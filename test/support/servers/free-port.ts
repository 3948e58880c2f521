// A free TCP port of this machine.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below those that systems give to clients and to listeners without a port: nothing else takes it
 * before its server does.
 */
const PORTS = [20_000, 32_000] as const

export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  return promise
}
