// One process of `npm run bench -- scan`: scans a library once and reports the cost.
import { createLibraryScanner } from '../../server/app/scanning.ts'
import { openLineOutput } from '../../server/base/log/line-output.ts'
import { createLog } from '../../server/base/log/logger.ts'
import { openLibrary } from '../../server/app/library.ts'
import { loadConfig } from '../../server/base/config/load-config.ts'
import { readPeakMebibytes, readProcessSeconds } from '../machine.ts'

export interface ScanOrder {
  recordings: string
  data: string
}

export interface ScanReport {
  /** Recordings found. */
  found: number
  /** Until all of them were listed. */
  walk: { seconds: number; cpuSeconds: number }
  /** Until all of them were indexed. */
  whole: { seconds: number; cpuSeconds: number }
  peakMebibytes: number
}

process.once('message', (order: ScanOrder) => void run(order))

async function run({ recordings, data }: ScanOrder): Promise<void> {
  const config = loadConfig({
    flags: { recordings, data },
    environment: {},
    workingFolder: data,
    cpuCount: 1,
  })
  const { logger } = createLog(config, openLineOutput(process.stderr.fd))
  const { signal } = new AbortController()
  const location = { kind: 'folder', path: recordings } as const
  const library = await openLibrary({ config, location, mode: 'write', logger, signal })
  const clock = startClock()
  let walk = clock()
  let found = 0
  const onProgress = (progress: { done: number; found: number }): void => {
    // The last report before the first inspection is the end of the walk.
    if (progress.done === 0) walk = clock()
    found = progress.found
  }
  await createLibraryScanner({ config, library, logger, onProgress }).scanOnce(signal)
  const whole = clock()
  const report: ScanReport = {
    found,
    walk,
    whole,
    peakMebibytes: readPeakMebibytes(process.pid),
  }
  await library.close()
  process.send?.(report)
}

function startClock(): () => { seconds: number; cpuSeconds: number } {
  const startedMs = performance.now()
  const cpuAtStart = readProcessSeconds(process.pid)
  return () => ({
    seconds: (performance.now() - startedMs) / 1000,
    cpuSeconds: readProcessSeconds(process.pid) - cpuAtStart,
  })
}
