// Results of the page's benchmarks: measured values and their targets.
import { formatTable, median } from '../table.ts'

export interface PageRow {
  name: string
  /** Milliseconds unless the name has another unit. */
  values: number[]
  /** The target, as text. */
  target: string
  /** Decimal places. Default none. */
  digits?: number
}

/** Prints the rows as a table. */
export function printRows(rows: readonly PageRow[]): void {
  const head = ['what', 'p50', 'p95', 'best', 'runs', 'target']
  const cells = rows.map(({ name, values, target, digits = 0 }) => [
    name,
    median(values).toFixed(digits),
    percentile(values, 0.95).toFixed(digits),
    Math.min(...values).toFixed(digits),
    String(values.length),
    target,
  ])
  for (const line of formatTable([head, ...cells])) console.log(line)
  console.log('')
}

/** The smallest value that this many of the values do not exceed; NaN of none. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN
}
