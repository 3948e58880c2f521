import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { platform, tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'

it.runIf(platform() === 'linux')(
  'the benchmarks of disks, pictures and memory run, small, and print their tables',
  async () => {
    const cache = mkdtempSync(path.join(tmpdir(), 'aftercast-bench-smoke-'))
    try {
      const program = path.resolve(import.meta.dirname, '../bench/run.ts')
      const names = ['cold', 'thumbnails', 'memory']
      const child = spawn(process.execPath, [program, ...names, '--smoke', '--cache', cache])
      const exited = once(child, 'exit')
      const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
      expect(await exited, errors).toEqual([0, null])
      for (const row of ['mp4, 30 s', 'ts', 'mkv', 'flv']) {
        expect(output).toMatch(new RegExp(`^\\| ${row} +\\| +[45] \\| +[\\d.]+ \\|`, 'm'))
      }
      expect(output).toMatch(/^\| thumbnails +\|.*\n.*\n\| ours +\| +[\d.]+ \|/m)
      expect(output).toMatch(/^\| 300 slow viewers +\| +\d+ \| +[\d.]+ \|/m)
    } finally {
      rmSync(cache, { recursive: true, force: true })
    }
  },
  240_000,
)
