// `npm run bench`: the benchmarks that are named, one after another.
import { benchCatalog } from './catalog.ts'
import { benchCold } from './cold.ts'
import { benchFuzz } from './fuzz.ts'
import { benchIndex } from './index.ts'
import { benchMemory } from './memory.ts'
import { readBenchOptions } from './options.ts'
import type { BenchName, BenchOptions } from './options.ts'
import { benchScan } from './scan.ts'
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
}

const options = readBenchOptions(process.argv.slice(2))
for (const name of options.names) await benchmarks[name](options)
