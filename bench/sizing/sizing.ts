// `npm run bench -- sizing`: the load of 100,000 and 1,000,000 viewers after a CDN, computed from
// measured figures.
import { formatTable } from '../table.ts'
import { classifySegments, hitRatesOf } from './edge-cache.ts'
import type { Cdn } from './edge-cache.ts'
import { audience } from './figures.ts'
import { computeLoad } from './load.ts'

const VIEWERS = [100_000, 1_000_000]
/** How unequal the popularity of sessions is: more with a larger exponent. */
const EXPONENTS = [0.8, 1, 1.2]
const HIT_RATES = [0.9, 0.99, 0.999]
const TERABYTE = 1e12
const CDNS: readonly Cdn[] = [
  { places: 50, placeBytes: TERABYTE, shieldBytes: 0 },
  { places: 50, placeBytes: 10 * TERABYTE, shieldBytes: 0 },
  { places: 50, placeBytes: 10 * TERABYTE, shieldBytes: 100 * TERABYTE },
  { places: 50, placeBytes: 10 * TERABYTE, shieldBytes: 1000 * TERABYTE },
]

/** Prints the tables. */
export async function benchSizing(): Promise<void> {
  for (const line of [...formatLoads(), '', ...formatHitRates()]) console.log(line)
}

function formatLoads(): string[] {
  const head = [
    'viewers, hit rate',
    'segments/s',
    'GB/s',
    'pages, keys, …/s',
    'live playlists/s',
    'CPUs, AES-128',
    'CPUs',
    'nodes, AES-128',
    'limit',
    'counter rows/s',
    'merging',
  ]
  const rows = VIEWERS.flatMap((viewers) =>
    HIT_RATES.map((hitRate) => {
      const input = { viewers, hitRate, storage: 'bucket' } as const
      const encrypted = computeLoad({ ...input, isEncrypted: true })
      const plain = computeLoad({ ...input, isEncrypted: false })
      return [
        `${count(viewers)}, ${percent(hitRate)}`,
        count(encrypted.segmentsPerSecond),
        (encrypted.bytesPerSecond / 1e9).toFixed(2),
        count(encrypted.otherPerSecond),
        count(encrypted.livePlaylistsPerSecond),
        encrypted.cpus.toFixed(1),
        plain.cpus.toFixed(1),
        count(encrypted.nodes),
        encrypted.limit,
        count(encrypted.counterRowsPerSecond),
        percent(encrypted.mergingShare),
      ]
    }),
  )
  return formatTable([head, ...rows])
}

/** By the popularity of sessions; the number of viewers does not matter. */
function formatHitRates(): string[] {
  const head = ['caches', ...EXPONENTS.map((exponent) => `Zipf ${exponent}`)]
  const byExponent = EXPONENTS.map((zipfExponent) =>
    classifySegments({ ...audience, viewers: 1, zipfExponent }),
  )
  const rows = CDNS.map((cdn) => [
    describeCdn(cdn),
    ...byExponent.map((classes) => percent(hitRatesOf(classes, audience.segmentBytes, cdn).total)),
  ])
  return formatTable([head, ...rows])
}

function describeCdn({ places, placeBytes, shieldBytes }: Cdn): string {
  const shield = shieldBytes === 0 ? '' : `, shield of ${count(shieldBytes / TERABYTE)} TB`
  return `${places} of ${count(placeBytes / TERABYTE)} TB${shield}`
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`
}
