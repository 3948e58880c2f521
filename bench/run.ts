// `npm run bench`: the benchmarks that are named, one after another.
import { benchCatalog } from './catalog.ts'
import { benchCold } from './cold.ts'
import { benchConnections } from './connections.ts'
import { benchFuzz } from './fuzz.ts'
import { benchIndex } from './index.ts'
import { benchMemory } from './memory.ts'
import { readBenchOptions } from './options.ts'
import type { BenchName, BenchOptions } from './options.ts'
import { benchScan } from './scan.ts'
import { benchPage } from './page.ts'
import { benchSegments } from './segments.ts'
import { benchThumbnails } from './thumbnails.ts'

const benchmarks: Record<BenchName, (options: BenchOptions) => Promise<void>> = {
  segments: benchSegments,
  fuzz: benchFuzz,
  index: benchIndex,
  catalog: benchCatalog,
  scan: benchScan,
  cold: benchCold,
  thumbnails: benchThumbnails,
  memory: benchMemory,
  connections: benchConnections,
  'page-lists': (options) => benchPage('page-lists', options),
  'page-plays': (options) => benchPage('page-plays', options),
  'page-away': (options) => benchPage('page-away', options),
  'page-hours': (options) => benchPage('page-hours', options),
  'page-lighthouse': (options) => benchPage('page-lighthouse', options),
}

const options = readBenchOptions(process.argv.slice(2))
for (const name of options.names) await benchmarks[name](options)
