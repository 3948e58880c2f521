// `npm run bench`: the benchmarks that are named, one after another.
import { benchCold } from './cold.ts'
import { benchFuzz } from './fuzz.ts'
import { benchIndex } from './index.ts'
import { benchMemory } from './memory.ts'
import { readBenchOptions } from './options.ts'
import { benchSegments } from './segments.ts'
import { benchThumbnails } from './thumbnails.ts'

const options = readBenchOptions(process.argv.slice(2))
for (const name of options.names) {
  if (name === 'segments') await benchSegments(options)
  else if (name === 'fuzz') await benchFuzz(options)
  else if (name === 'cold') await benchCold(options)
  else if (name === 'thumbnails') await benchThumbnails(options)
  else if (name === 'memory') await benchMemory(options)
  else await benchIndex(options)
}
