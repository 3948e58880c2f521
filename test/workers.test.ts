// Workers that die or send anything: the site stays, at the same address.
import { expect, it } from 'vitest'
import { soon } from './support/patience.ts'
import { childrenOf, startServer } from './support/servers/start-server.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'

/** The first processes of both workers die twice while they start; later ones send anything. */
const DIE_AT_START = `import cluster from 'node:cluster'
  if (cluster.isWorker && cluster.worker.id <= 4) process.kill(process.pid, 'SIGKILL')
  const text = { toString: 1 }
  if (cluster.isWorker)
    for (const message of [null, { takeLimit: null }, { url: text }, { failure: text }])
      process.send(message)`

it('survives workers that die at any time and that send anything', async () => {
  const library = await createTempLibrary('workers')
  await library.place('alice/2026-01-31/1001.mp4', SMALL_FIXTURE)
  const server = await startServer({
    args: library.args,
    environment: { AFTERCAST_WORKERS: '2' },
    nodeFlags: [`--import=data:text/javascript,${encodeURIComponent(DIE_AT_START)}`],
  })
  const first = childrenOf(server.pid)
  expect(first).toHaveLength(2)
  for (const pid of first) process.kill(pid, 'SIGKILL')
  const status = async (): Promise<number | undefined> =>
    fetch(`${server.url}/readyz`).then(
      (response) => response.status,
      () => undefined,
    )
  await expect
    .poll(() => childrenOf(server.pid).some((pid) => !first.includes(pid)), soon)
    .toBe(true)
  await expect.poll(status, soon).toBe(200)
  expect(await (await fetch(`${server.url}/api/streamers`)).text()).toContain('alice')
  // Once a minute, and these were six.
  const logged = server.output().match(/a worker exited unexpectedly/g)?.length
  expect(logged).toBeGreaterThan(0)
  expect(logged).toBeLessThan(6)
  expect(await server.stop()).toBe(0)
})
