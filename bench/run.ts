// `npm run bench`: the benchmarks that are named, one after another.
import { benchCatalog } from './library/catalog.ts'
import { benchCold } from './recordings/cold.ts'
import { benchCluster } from './cluster/cluster.ts'
import { benchClusterIndexing } from './cluster/indexing.ts'
import { benchClusterLibrary } from './cluster/library.ts'
import { benchClusterOutage } from './cluster/outage.ts'
import { benchClusterUpgrade } from './cluster/upgrade.ts'
import { benchConnections } from './endurance/connections.ts'
import { benchKills } from './endurance/kills.ts'
import { benchSoak } from './endurance/soak.ts'
import { benchFuzz } from './endurance/fuzz.ts'
import { benchIndex } from './recordings/index.ts'
import { benchMemory } from './endurance/memory.ts'
import { readBenchOptions } from './options.ts'
import type { BenchName, BenchOptions } from './options.ts'
import { benchScan } from './library/scan.ts'
import { benchPage } from './page.ts'
import { benchSizing } from './sizing/sizing.ts'
import { benchReleases } from './segments/releases.ts'
import { benchSegments } from './segments/segments.ts'
import { benchStoryboard } from './recordings/storyboard.ts'
import { benchThumbnails } from './recordings/thumbnails.ts'

const benchmarks: Record<BenchName, (options: BenchOptions) => Promise<void>> = {
  segments: benchSegments,
  fuzz: benchFuzz,
  index: benchIndex,
  catalog: benchCatalog,
  scan: benchScan,
  cold: benchCold,
  thumbnails: benchThumbnails,
  storyboard: benchStoryboard,
  memory: benchMemory,
  connections: benchConnections,
  kills: benchKills,
  soak: benchSoak,
  cluster: benchCluster,
  'cluster-library': benchClusterLibrary,
  'cluster-indexing': benchClusterIndexing,
  'cluster-outage': benchClusterOutage,
  'cluster-upgrade': benchClusterUpgrade,
  releases: benchReleases,
  sizing: benchSizing,
  'page-lists': (options) => benchPage('page-lists', options),
  'page-plays': (options) => benchPage('page-plays', options),
  'page-away': (options) => benchPage('page-away', options),
  'page-hours': (options) => benchPage('page-hours', options),
  'page-lighthouse': (options) => benchPage('page-lighthouse', options),
}

const options = readBenchOptions(process.argv.slice(2))
for (const name of options.names) await benchmarks[name](options)
