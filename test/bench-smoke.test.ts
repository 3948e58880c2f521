import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findChromium } from '../scripts/find/find-chromium.mjs'
import { runBench } from './support/servers/run-bench.ts'

const ROWS = [
  'mp4 plain',
  'mkv plain',
  'mp4 plain, all cores',
  'mp4 aes',
  'zipf aes',
  'zipf aes, cache of a fifth',
]

const LIMIT_MS = 240_000

it(
  'the benchmarks of recordings run in smoke mode and print a speed for each of our rows',
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'aftercast-chart-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const chart = path.join(folder, 'chart.svg')
    const output = await runBench(['segments', 'fuzz', 'index', '--chart', chart])
    const drawing = readFileSync(chart, 'utf8')
    for (const name of ROWS) expect(drawing).toContain(`>ours ${name}</text>`)
    expect(drawing.match(/<rect /g)?.length).toBeGreaterThanOrEqual(2 * ROWS.length)
    for (const name of ROWS) {
      const speed = new RegExp(`^\\| ours ${name} +\\| +(?<speed>\\d+) \\|`, 'm').exec(output)
      expect(Number(speed?.groups?.speed), output).toBeGreaterThan(0)
    }
    for (const container of ['mp4', 'fmp4', 'ts', 'mkv', 'flv']) {
      const row = new RegExp(`^\\| ${container} +\\| +(?<size>[\\d.]+) \\|`, 'm').exec(output)
      expect(Number(row?.groups?.size), output).toBeGreaterThan(0)
    }
    expect(output).toMatch(/^\| flv-h264-aac\.flv +\| +2 \|/m)
  },
  LIMIT_MS,
)

it(
  'the benchmarks of large libraries run in smoke mode and print their tables',
  async () => {
    const output = await runBench(['catalog', 'scan'])
    for (const list of ['streamers, identity', 'sessions of 20, identity', 'streamers, 304']) {
      const row = new RegExp(`^\\| ours ${list} +\\| +(?<speed>\\d+) \\|`, 'm').exec(output)
      expect(Number(row?.groups?.speed), output).toBeGreaterThan(0)
    }
    expect(output).toMatch(/^\| new +\| +\d+ \|/m)
    expect(output).toMatch(/^\| unchanged +\| +[\d.]+ \|/m)
  },
  LIMIT_MS,
)

it(
  'the benchmarks of the page run in smoke mode if there is a Chromium',
  async () => {
    const names = ['page-lists', 'page-plays', 'page-away', 'page-hours']
    const output = await runBench(names)
    const expected =
      findChromium() === undefined
        ? names.map((name) => new RegExp(`^${name}: there is no Chromium`, 'm'))
        : [
            /^\| list: first paint +\| +[1-9]/m,
            /^\| click on Play to first frame +\| +[1-9]/m,
            /^\| seek to an unbuffered position to first frame +\| +[1-9]/m,
            /^\| server away for 1 s, .*at 4x speed +\| +\d+ \|/m,
            /^\| minutes played \| +heap MB \|/m,
          ]
    for (const line of expected) expect(output).toMatch(line)
  },
  LIMIT_MS,
)
