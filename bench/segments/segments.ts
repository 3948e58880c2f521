// Throughput of segments: ours, packaged just in time, and nginx with the same bytes from files.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureBuilt } from '../../scripts/prepare.mjs'
import { measureCipher } from './cipher-speed.ts'
import { hasLoadProgram, runLoad } from '../load.ts'
import { describeMachine, hasProgram } from '../machine.ts'
import { ALL_FORMATS, ensureMedia } from '../make-media.ts'
import { DISTURBED_SHARE, measureRound } from '../measure.ts'
import type { Row } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { createPin } from '../pin.ts'
import type { Pin } from '../pin.ts'
import { chartBars, reportSegments } from './segment-report.ts'
import { formatChart } from './segment-chart.ts'
import type { MeasuredRow } from './segment-report.ts'
import { chooseRows, prepareRows } from './segment-rows.ts'

/** The popular have to be known as such, and to be encrypted once, before that is measured. */
const WARM_UP_ROUNDS = 10

/** Prints the tables. */
export async function benchSegments(options: BenchOptions): Promise<void> {
  const plans = chooseRows(options)
  await ensureBuilt()
  const library = await ensureMedia(options, ALL_FORMATS)
  const scratch = mkdtempSync(path.join(tmpdir(), 'aftercast-bench-run-'))
  const stops: (() => Promise<unknown>)[] = []
  try {
    const pin = createPin()
    const cutRoot = path.join(options.cache, `cut-${library.name}`)
    if (!hasProgram('nginx')) console.error('No rows of nginx: it is not installed.')
    const rows = await prepareRows(plans, { options, library, cutRoot, scratch, pin, stops })
    const { measured, cipher } = await measureRounds(rows, { options, pin, scratch })
    for (const line of [...describe(options), ...reportSegments(measured, cipher)])
      console.log(line)
    if (options.chart !== undefined) writeFileSync(options.chart, drawChart(measured))
  } finally {
    for (const stop of stops) await stop()
    rmSync(scratch, { recursive: true, force: true })
  }
}

interface Setting {
  options: BenchOptions
  pin: Pin
  scratch: string
}

/** Row by row, round after round, so that what disturbs the machine disturbs all rows alike. */
async function measureRounds(rows: Row[], { options, pin, scratch }: Setting) {
  const { rounds, rowSeconds: seconds } = options
  const measured = rows.map((row): MeasuredRow => ({ row, samples: [] }))
  const cipher: number[] = []
  if (!hasLoadProgram()) console.error('wrk is not installed: figures are of our own slow client.')
  const load = { seconds, wrapper: pin(1), scratch }
  const warmUpRounds = options.isSmoke ? 1 : WARM_UP_ROUNDS
  for (const row of rows.filter(({ isWarmedUp }) => isWarmedUp === true)) {
    for (let round = 1; round <= warmUpRounds; round += 1)
      await runLoad({ ...load, origin: row.origin, paths: row.paths(-round) })
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { row, samples } of measured) {
      samples.push(...(await measureRound(row, { ...load, round }, options)))
    }
    const isEncrypted = rows.some(({ name }) => name.includes('aes'))
    const speed = isEncrypted ? measureCipher(pin(0), seconds) : undefined
    if (speed !== undefined) cipher.push(speed)
  }
  return { measured, cipher }
}

function drawChart(measured: readonly MeasuredRow[]): string {
  const [machine = ''] = describeMachine([])
  return formatChart(chartBars(measured), {
    title: 'Segments of 6 s, 1080p at 6 Mbit/s, from one processor',
    caption: machine,
  })
}

function describe({ rounds, rowSeconds, mediaSeconds }: BenchOptions): string[] {
  return [
    ...describeMachine(['nginx', 'wrk', 'openssl'].filter(hasProgram)),
    [
      `${rounds} rounds of ${rowSeconds} s, ${mediaSeconds / 60} min of media; medians.`,
      '*: discarded',
      `rounds, in which others used over ${DISTURBED_SHARE * 100} % of the machine`,
    ].join(' '),
  ]
}
