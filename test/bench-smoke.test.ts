import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { findChromium } from '../scripts/find-chromium.mjs'

it('the benchmarks run, small, and print a speed for each of our rows', async () => {
  const cache = mkdtempSync(path.join(tmpdir(), 'aftercast-bench-smoke-'))
  try {
    const program = path.resolve(import.meta.dirname, '../bench/run.ts')
    const child = spawn(process.execPath, [
      program,
      'segments',
      'fuzz',
      'index',
      'catalog',
      'scan',
      '--smoke',
      '--cache',
      cache,
    ])
    const exited = once(child, 'exit')
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect(await exited, errors).toEqual([0, null])
    for (const name of ['mp4 plain', 'ts plain', 'mp4 aes', 'ts aes']) {
      const speed = new RegExp(`^\\| ours ${name} +\\| +(?<speed>\\d+) \\|`, 'm').exec(output)
      expect(Number(speed?.groups?.speed), output).toBeGreaterThan(0)
    }
    for (const container of ['mp4', 'fmp4', 'ts', 'mkv', 'flv']) {
      const row = new RegExp(`^\\| ${container} +\\| +(?<size>[\\d.]+) \\|`, 'm').exec(output)
      expect(Number(row?.groups?.size), output).toBeGreaterThan(0)
    }
    for (const list of ['streamers, identity', 'sessions of 20, identity', 'streamers, 304']) {
      const row = new RegExp(`^\\| ours ${list} +\\| +(?<speed>\\d+) \\|`, 'm').exec(output)
      expect(Number(row?.groups?.speed), output).toBeGreaterThan(0)
    }
    expect(output).toMatch(/^\| new +\| +\d+ \|/m)
    expect(output).toMatch(/^\| unchanged +\| +[\d.]+ \|/m)
    expect(output).toMatch(/^\| mp4-h264-vfr\.mp4 +\| +2 \|/m)
  } finally {
    rmSync(cache, { recursive: true, force: true })
  }
}, 120_000)

it('the benchmarks of the page run, small, where there is a Chromium', async () => {
  const cache = mkdtempSync(path.join(tmpdir(), 'aftercast-bench-page-'))
  try {
    const program = path.resolve(import.meta.dirname, '../bench/run.ts')
    const names = ['page-lists', 'page-plays', 'page-away', 'page-hours']
    const child = spawn(process.execPath, [program, ...names, '--smoke', '--cache', cache])
    const exited = once(child, 'exit')
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect(await exited, errors).toEqual([0, null])
    const expected =
      findChromium() === undefined
        ? names.map((name) => new RegExp(`^${name}: there is no Chromium`, 'm'))
        : [
            /^\| list: first paint +\| +[1-9]/m,
            /^\| click on Play to first frame +\| +[1-9]/m,
            /^\| seek to an unbuffered place to picture +\| +[1-9]/m,
            /^\| server away for 1 s, .*at 4x speed +\| +\d+ \|/m,
            /^\| minutes played \| +heap MB \|/m,
          ]
    for (const line of expected) expect(output).toMatch(line)
  } finally {
    rmSync(cache, { recursive: true, force: true })
  }
}, 400_000)
