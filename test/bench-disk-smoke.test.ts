import { platform } from 'node:os'
import { expect, it } from 'vitest'
import { runBench } from './support/run-bench.ts'

it.runIf(platform() === 'linux')(
  'the benchmarks of disks, thumbnails, memory and connections run in smoke mode and print their tables',
  async () => {
    const output = await runBench(['cold', 'thumbnails', 'memory', 'connections'])
    for (const row of ['mp4, 30 s', 'ts', 'mkv', 'flv']) {
      expect(output).toMatch(new RegExp(`^\\| ${row} +\\| +[45] \\| +[\\d.]+ \\|`, 'm'))
    }
    expect(output).toMatch(/^\| thumbnails +\|.*\n.*\n\| ours +\| +[\d.]+ \|/m)
    expect(output).toMatch(/^\| 300 slow viewers +\| +\d+ \| +[\d.]+ \|/m)
    expect(output).toMatch(/^\| 500 readers of nothing +\| +[\d.]+ \|/m)
  },
  240_000,
)
