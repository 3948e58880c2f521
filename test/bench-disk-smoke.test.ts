import { platform } from 'node:os'
import { expect, it } from 'vitest'
import { findCeph } from '../scripts/find/find-ceph.mjs'
import { findPostgres } from '../scripts/find/find-postgres.mjs'
import { runBench } from './support/servers/run-bench.ts'

it.runIf(platform() === 'linux')(
  'the benchmarks of disks, thumbnails, memory and connections run in smoke mode and print their tables',
  async () => {
    const output = await runBench(['cold', 'thumbnails', 'storyboard', 'memory', 'connections'])
    for (const row of ['mp4, 30 s', 'ts', 'mkv', 'flv']) {
      expect(output).toMatch(new RegExp(`^\\| ${row} +\\| +[45] \\| +[\\d.]+ \\|`, 'm'))
    }
    expect(output).toMatch(/^\| thumbnails +\|.*\n.*\n\| ours +\| +[\d.]+ \|/m)
    expect(output).toMatch(/^\| storyboard +\|.*\n.*\n\| ours +\| +[\d.]+ \|/m)
    expect(output).toMatch(/^\| long +\| +\d+ \| +\d+ \|/m)
    expect(output).toMatch(/^\| 300 slow viewers +\| +\d+ \| +[\d.]+ \|/m)
    expect(output).toMatch(/^\| 500 readers of nothing +\| +[\d.]+ \|/m)
  },
  240_000,
)

it.runIf(platform() === 'linux')(
  'the benchmarks of endurance and of a cluster run in smoke mode, and find no fault',
  async () => {
    const hasCeph = findCeph() !== undefined
    const output = await runBench(['kills', 'soak', ...(hasCeph ? ['cluster'] : [])])
    for (const scene of ['scan', 'migration', 'thumbnails', 'growing'])
      expect(output).toMatch(new RegExp(`^\\| ${scene} +\\| +1 \\| +0 \\|`, 'm'))
    expect(output).toMatch(/^\| 0\.1 +\| +\d+ \|.*\| +0 \| +0 \|$/m)
    for (const row of hasCeph ? ['mp4 cold', 'mp4 warm'] : [])
      expect(output).toMatch(new RegExp(`^\\| ours ${row} +\\| +[1-9]`, 'm'))
  },
  240_000,
)

it.runIf(platform() === 'linux' && findPostgres() !== undefined)(
  'the benchmarks of clusters with PostgreSQL run in smoke mode, and find no fault',
  async () => {
    const output = await runBench([
      'cluster-library',
      'cluster-indexing',
      'cluster-outage',
      'sizing',
    ])
    expect(output).toMatch(/^\| first, again +\| +[\d.]+ \|/m)
    expect(output).toMatch(/^\| sessions of 20, identity +\| +[1-9]/m)
    expect(output).toMatch(/^\| all nodes +\| +[1-9]/m)
    expect(output).toMatch(/^\| 20 of ten seconds +\| +1 \| +[\d.]+ \|/m)
    expect(output).toMatch(/^\| stopped for 0\.01 min +\| +[1-9]\d* \| +0 \|/m)
    expect(output).toMatch(/^\| 1,000,000, 99 % +\| +1,667 \|/m)
  },
  240_000,
)
