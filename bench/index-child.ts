// One process of `npm run bench -- index` and `-- cold`: indexes one recording once, and reports
// the cost.
import path from 'node:path'
import { createMediaReaders } from '../server/media/readers.ts'
import { FolderStorage } from '../server/storage/recordings/folder/folder-storage.ts'
import { loadPageCache } from '../server/storage/recordings/page-cache.ts'
import { readPeakMebibytes } from './machine.ts'

export interface IndexReport {
  seconds: number
  /** Of all threads, user and system. */
  cpuSeconds: number
  /** Most memory that the process has held. */
  peakMebibytes: number
}

const recording = process.argv[2] ?? ''
const storage = new FolderStorage(path.dirname(recording), { pageCache: await loadPageCache() })
const readers = createMediaReaders()
const file = await storage.open(path.basename(recording))
const started = performance.now()
const usage = process.cpuUsage()
const reader = await readers.forFile(file)
await reader.index(file, new AbortController().signal)
const seconds = (performance.now() - started) / 1000
const { user, system } = process.cpuUsage(usage)
await file.close()
const report: IndexReport = {
  seconds,
  cpuSeconds: (user + system) / 1e6,
  peakMebibytes: readPeakMebibytes(process.pid),
}
process.send?.(report)
