// `npm run bench`: all benchmarks, one after another.
import { readBenchOptions } from './options.ts'
import { benchSegments } from './segments.ts'

await benchSegments(readBenchOptions(process.argv.slice(2)))
