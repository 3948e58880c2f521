// `npm run bench`: the benchmarks that are named, one after another.
import { benchFuzz } from './fuzz.ts'
import { benchIndex } from './index.ts'
import { readBenchOptions } from './options.ts'
import { benchPage } from './page.ts'
import { benchSegments } from './segments.ts'

const options = readBenchOptions(process.argv.slice(2))
for (const name of options.names) {
  if (name === 'segments') await benchSegments(options)
  else if (name === 'fuzz') await benchFuzz(options)
  else if (name === 'index') await benchIndex(options)
  else await benchPage(name, options)
}
