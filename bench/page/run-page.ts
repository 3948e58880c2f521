// The process of `npm run bench -- page-*`: runs one of the page's benchmarks.
import { describeMachine } from '../machine.ts'
import type { BenchOptions } from '../options.ts'
import type { PageBenchName } from '../page.ts'
import { benchAway } from './away.ts'
import { benchHours } from './hours.ts'
import { benchLighthouse } from './lighthouse.ts'
import { benchLists } from './lists.ts'
import { benchPlays } from './plays.ts'

const benchmarks: Record<PageBenchName, (options: BenchOptions) => Promise<void>> = {
  'page-lists': benchLists,
  'page-plays': benchPlays,
  'page-away': benchAway,
  'page-hours': benchHours,
  'page-lighthouse': benchLighthouse,
}

for (const line of [...describeMachine([]), '']) console.log(line)
const [, , name = '', options = ''] = process.argv
// bench/page.ts is the only caller and shares the types.
await benchmarks[name as PageBenchName](JSON.parse(options) as BenchOptions)
