// `npm run bench -- cluster`: segments from an object store, beside nginx as a proxy of the same
// store.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureBuilt } from '../../scripts/prepare.mjs'
import { runLoad } from '../load.ts'
import { describeMachine, hasProgram } from '../machine.ts'
import { ALL_FORMATS, ensureMedia } from '../make-media.ts'
import { measureRound } from '../measure.ts'
import type { Row, Sample } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { createPin } from '../pin.ts'
import { formatTable, median } from '../table.ts'
import { prepareStoreRows } from './store-rows.ts'

/** Prints the table. */
export async function benchCluster(options: BenchOptions): Promise<void> {
  await ensureBuilt()
  const library = await ensureMedia(options, ALL_FORMATS)
  const scratch = mkdtempSync(path.join(tmpdir(), 'aftercast-bench-run-'))
  const stops: (() => Promise<unknown>)[] = []
  const pin = createPin()
  try {
    const rows = await prepareStoreRows({ options, library, scratch, pin, stops })
    const load = { seconds: options.rowSeconds, wrapper: pin(1), scratch }
    for (const { isWarmedUp, origin, paths } of rows) {
      if (isWarmedUp === true && !options.isSmoke)
        await runLoad({ ...load, origin, paths: paths(-1) })
    }
    const measured = rows.map((row): [Row, Sample[]] => [row, []])
    for (let round = 0; round < options.rounds; round += 1) {
      for (const [row, samples] of measured) {
        samples.push(...(await measureRound(row, { ...load, round }, options)))
      }
    }
    for (const line of describeMachine(['nginx', 'wrk', 'radosgw'].filter(hasProgram)))
      console.log(line)
    for (const line of formatRows(measured)) console.log(line)
  } finally {
    for (const stop of stops.toReversed()) await stop()
    rmSync(scratch, { recursive: true, force: true })
  }
}

function formatRows(measured: readonly [Row, Sample[]][]): string[] {
  const head = ['row', 'MB/s', 'req/s', 'p50 ms', 'p99 ms', 'CPU s/GB', 'of nginx']
  const rows = measured.map(([{ name }, samples]) => {
    const rival = measured.find(([other]) => other.name === name.replace('ours', 'nginx'))
    const ratio = rival && Number(megabytes(samples)) / Number(megabytes(rival[1]))
    return [
      name,
      megabytes(samples),
      median(samples.map(({ requestsPerSecond }) => requestsPerSecond)).toFixed(0),
      median(samples.map(({ p50 }) => p50)).toFixed(1),
      median(samples.map(({ p99 }) => p99)).toFixed(1),
      median(samples.map(({ cpuSecondsPerGigabyte }) => cpuSecondsPerGigabyte)).toFixed(3),
      ratio === undefined ? '' : `${ratio.toFixed(2)}x`,
    ]
  })
  return formatTable([head, ...rows])
}

function megabytes(samples: readonly Sample[]): string {
  return median(samples.map(({ megabytesPerSecond }) => megabytesPerSecond)).toFixed(0)
}
