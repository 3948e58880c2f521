// Tables of the segments benchmark: the result of each row, and our rows compared with others.
import { isCalm } from '../measure.ts'
import type { Row, Sample } from '../measure.ts'
import type { ChartBar } from './segment-chart.ts'
import { formatTable, median } from '../table.ts'

/** A row and what was measured of it, round by round. */
export interface MeasuredRow {
  row: Row
  samples: Sample[]
}

/** A row, and the one that it is a variation of. */
const VARIATIONS = [
  ['ours mkv plain', 'ours mp4 plain'],
  ['ours flv plain', 'ours mp4 plain'],
  ['ours fmp4 plain', 'ours mp4 plain'],
  ['ours mp4 plain, all cores', 'ours mp4 plain'],
  ['nginx default mp4 plain, all cores', 'nginx default mp4 plain'],
  ['nginx tuned mp4 plain, all cores', 'nginx tuned mp4 plain'],
  ['ours zipf aes, cache of a fifth', 'ours zipf aes'],
] as const

/** Results of the rows, for a chart. */
export function chartBars(rows: readonly MeasuredRow[]): ChartBar[] {
  return rows.map((measured) => ({
    name: measured.row.name,
    megabytesPerSecond: speed(measured),
    cpuSecondsPerGigabyte: 1 / thrift(measured),
  }))
}

/** @param cipherMegabytes MB/s of the cipher alone, on one processor, in each round */
export function reportSegments(rows: readonly MeasuredRow[], cipherMegabytes: number[]): string[] {
  const head = ['row', 'MB/s', 'best', 'req/s', 'p50 ms', 'p99 ms', 'CPU s/GB', 'least', 'peak MiB']
  return [
    ...formatTable([[...head, '*'], ...rows.map(formatRow)]),
    ...rows.flatMap(({ row, samples }) =>
      samples.some(isCalm)
        ? []
        : [`${row.name}: every round was disturbed, so its figures are unreliable.`],
    ),
    ...section(
      ['ours beside nginx', 'MB/s default', 'MB/s tuned', 'CPU default', 'CPU tuned'],
      nginxRatios(rows),
    ),
    ...section(['row', 'beside', 'MB/s', 'CPU'], variationRatios(rows)),
    ...section(['ours', 'MB/s', 'openssl, MB/s', 'of it'], cipherRatios(rows, cipherMegabytes)),
  ]
}

function section(head: string[], rows: string[][]): string[] {
  return rows.length === 0 ? [] : ['', ...formatTable([head, ...rows])]
}

function formatRow({ row: { name }, samples: all }: MeasuredRow): string[] {
  const samples = counted(all)
  const speeds = samples.map((sample) => sample.megabytesPerSecond)
  const costs = samples.map((sample) => sample.cpuSecondsPerGigabyte)
  const disturbed = all.filter((sample) => !isCalm(sample)).length
  return [
    name,
    median(speeds).toFixed(0),
    Math.max(...speeds).toFixed(0),
    median(samples.map((sample) => sample.requestsPerSecond)).toFixed(0),
    median(samples.map(({ p50 }) => p50)).toFixed(1),
    median(samples.map(({ p99 }) => p99)).toFixed(1),
    median(costs).toFixed(3),
    Math.min(...costs).toFixed(3),
    Math.max(...samples.map(({ peakMebibytes }) => peakMebibytes)).toFixed(0),
    String(disturbed),
  ]
}

/**
 * Speed as a multiple of nginx's; and as often as nginx could do our work in the same processor
 * time.
 */
function nginxRatios(rows: readonly MeasuredRow[]): string[][] {
  return rows.flatMap((ours, at) => {
    const [standard, tuned] = rows.slice(at + 1, at + 3)
    const isCompared = ours.row.name.startsWith('ours') && standard?.row.name.startsWith('nginx')
    if (isCompared !== true || standard === undefined || tuned === undefined) return []
    const ratios = [speed, thrift].flatMap((figure) =>
      [standard, tuned].map((other) => times(figure(ours) / figure(other))),
    )
    return [[ours.row.name, ...ratios]]
  })
}

function variationRatios(rows: readonly MeasuredRow[]): string[][] {
  return VARIATIONS.flatMap(([name, besideName]) => {
    const ours = rows.find(({ row }) => row.name === name)
    const beside = rows.find(({ row }) => row.name === besideName)
    if (ours === undefined || beside === undefined) return []
    const ratios = [speed, thrift].map((figure) => times(figure(ours) / figure(beside)))
    return [[name, besideName, ...ratios]]
  })
}

function cipherRatios(rows: readonly MeasuredRow[], cipherMegabytes: number[]): string[][] {
  const cipher = median(cipherMegabytes)
  const encrypted = rows.filter(({ row }) => /^ours (?:mp4|ts) aes$/.test(row.name))
  if (cipherMegabytes.length === 0) return []
  return encrypted.map((ours) => [
    ours.row.name,
    speed(ours).toFixed(0),
    cipher.toFixed(0),
    times(speed(ours) / cipher),
  ])
}

function speed({ samples }: MeasuredRow): number {
  return median(counted(samples).map((one) => one.megabytesPerSecond))
}

function thrift({ samples }: MeasuredRow): number {
  return 1 / median(counted(samples).map((one) => one.cpuSecondsPerGigabyte))
}

/** Disturbed rounds are ignored, unless there are no others. */
function counted(samples: readonly Sample[]): readonly Sample[] {
  const calm = samples.filter(isCalm)
  return calm.length > 0 ? calm : samples
}

function times(ratio: number): string {
  return `${ratio.toFixed(2)}x`
}
