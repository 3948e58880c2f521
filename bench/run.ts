// `npm run bench`: the benchmarks that are named, one after another.
import { benchCatalog } from './catalog.ts'
import { benchFuzz } from './fuzz.ts'
import { benchIndex } from './index.ts'
import { readBenchOptions } from './options.ts'
import { benchScan } from './scan.ts'
import { benchSegments } from './segments.ts'

const options = readBenchOptions(process.argv.slice(2))
for (const name of options.names) {
  if (name === 'segments') await benchSegments(options)
  else if (name === 'fuzz') await benchFuzz(options)
  else if (name === 'catalog') await benchCatalog(options)
  else if (name === 'scan') await benchScan(options)
  else await benchIndex(options)
}
