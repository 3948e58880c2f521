// Lists of a node of a cluster, beside those of a server with SQLite alone, alternately.
import { sessionsApiPath, streamersApiPath } from '../../shared/paths.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import { streamerName } from '../library/make-tree.ts'
import type { TreeSize } from '../library/make-tree.ts'
import { measureRound } from '../measure.ts'
import type { Row, Sample } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { createPin } from '../pin.ts'
import { scatter } from '../segments/cut-segments.ts'
import { formatTable, median } from '../table.ts'

const MANY_STREAMERS = 1000
const ENCODINGS = ['identity', 'br']

type ServerName = 'sqlite' | 'scanning' | 'following'

export interface ClusterListsSetting {
  servers: Record<ServerName, StartedServer>
  size: TreeSize
  options: BenchOptions
  scratch: string
}

interface Comparison {
  name: string
  rows: Record<ServerName, Row>
  samples: Record<ServerName, Sample[]>
}

const NAMES = ['sqlite', 'scanning', 'following'] as const

/** Lines of the table. */
export async function measureClusterLists(setting: ClusterListsSetting): Promise<string[]> {
  const { options, scratch } = setting
  const comparisons = prepareComparisons(setting)
  const plan = { seconds: options.rowSeconds, wrapper: createPin()(1), scratch }
  for (let round = 0; round < options.rounds; round += 1) {
    for (const { rows, samples } of comparisons) {
      for (const name of NAMES) {
        samples[name].push(...(await measureRound(rows[name], { ...plan, round }, options)))
      }
    }
  }
  const head = [
    'list',
    'SQLite req/s',
    'scanning node',
    'following node',
    'CPU µs',
    'scanning',
    'following',
  ]
  return formatTable([head, ...comparisons.map(formatComparison)])
}

function prepareComparisons({ servers, size, options }: ClusterListsSetting): Comparison[] {
  const count = Math.min(size.streamers, MANY_STREAMERS)
  const lists = scatter(
    Array.from({ length: count }, (_, number) => sessionsApiPath(streamerName(number))),
  )
  const encodings = options.isSmoke ? ENCODINGS.slice(0, 1) : ENCODINGS
  return encodings.flatMap((encoding) =>
    [
      { name: `streamers, ${encoding}`, paths: [streamersApiPath] },
      { name: `sessions of ${count}, ${encoding}`, paths: lists },
    ].map(({ name, paths }) => {
      const rowOf = (server: ServerName): Row => {
        const { url: origin, pid } = servers[server]
        const headers = { 'accept-encoding': encoding }
        return { name: `${server} ${name}`, pid, origin, headers, paths: () => paths }
      }
      return {
        name,
        rows: {
          sqlite: rowOf('sqlite'),
          scanning: rowOf('scanning'),
          following: rowOf('following'),
        },
        samples: { sqlite: [], scanning: [], following: [] },
      }
    }),
  )
}

function formatComparison({ name, samples }: Comparison): string[] {
  const speeds = NAMES.map((server) =>
    median(samples[server].map(({ requestsPerSecond }) => requestsPerSecond)),
  )
  const costs = NAMES.map((server) =>
    median(samples[server].map(({ cpuMicrosecondsPerRequest }) => cpuMicrosecondsPerRequest)),
  )
  const compare = ([alone = NaN, ...others]: number[]): string[] => [
    alone.toFixed(0),
    ...others.map((value) => `${value.toFixed(0)} (${(value / alone).toFixed(2)}x)`),
  ]
  return [name, ...compare(speeds), ...compare(costs)]
}
