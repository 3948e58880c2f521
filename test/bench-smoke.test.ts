// Each benchmark once with tiny recordings: that it works, not how fast anything is.
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { platform } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runLoad } from '../bench/load.ts'
import { findProgram, findPrograms } from '../scripts/programs.mjs'
import { runBench } from './support/servers/run-bench.ts'
import { makeTempFolder } from './support/temp-folder.ts'

/** A row of a table with a figure, however small on a slow machine. */
function row(name: string): RegExp {
  return new RegExp(`^\\| ${name} +\\| +[\\d.]+ \\|`, 'm')
}

/** By names. The program of `viewers` and `outage` also runs `clients` and `upgrade`. */
const PRINTED: Record<string, readonly RegExp[]> = {
  'segments index cold renditions': [
    ...['ours mp4 plain', 'ours mkv plain', 'ours zipf aes, cache of a fifth'].map(row),
    ...['mp4', 'ts', 'mp4, 12 s', '360p, mp4', '360p is encoded'].map(row),
  ],
  'catalog kills viewers': [
    /^\| ours streamers, identity +\| +ready bytes streamers, identity \|/m,
    row('the server'),
    /^\| 1 +\| +0 \| +\d+ \|/m,
    ...['players, aes: they watch', 'players, aes: the library changes'].map(row),
  ],
  ...(findProgram('Chromium') && {
    'page-plays': ['click on Play', 'seek'].map((action) => row(`${action}, loopback: ours, mp4`)),
  }),
  ...(findPrograms('Ceph') &&
    findProgram('PostgreSQL') && {
      'cluster index-nodes': ['ours mp4 cold', 'ours mp4 warm', '1'].map(row),
    }),
  ...(findProgram('PostgreSQL') && {
    'cluster-library outage': [
      ...['following, with an empty data folder', 'all nodes'].map(row),
      row('the database: until all nodes list a change'),
    ],
  }),
}

describe.runIf(platform() === 'linux')(
  'benchmarks of each kind run in smoke mode and print figures',
  () => {
    // They wait for most of their time.
    it.concurrent.each(Object.entries(PRINTED))('%s', async (names, lines) => {
      const output = await runBench(names.split(' '))
      for (const line of lines) expect(output).toMatch(line)
    })
  },
)

it('the load of a smoke run waits for the first response, however late it is', async () => {
  const scratch = makeTempFolder('load')
  const server = createServer((_request, response) => {
    // Longer than a row of a smoke run, and than the shortest one of wrk.
    void sleep(1500).then(() => response.end('late'))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    rmSync(scratch, { recursive: true })
    server.close()
  })
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const origin = `http://127.0.0.1:${address.port}`
  const plan = { origin, paths: ['/'], seconds: 0.1, wrapper: [], scratch, isSmoke: true }
  const { requests, bytes } = await runLoad(plan)
  expect(requests).toBeGreaterThan(0)
  expect(bytes).toBe(requests * 4)
})
