// Tables for a terminal, which are Markdown as well.

/** The middle of the values, the lower one of two; NaN of none. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? NaN
}

/** The smallest value that a share of the values does not exceed; NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(values.length * share) - 1)] ?? NaN
}

/** Lines of a table and an empty one. Columns but the first are right-aligned. */
export function formatTable(head: string[], ...body: string[][]): string[] {
  if (body.length === 0) return []
  const rows = [head, ...body]
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const [first = '', ...others] = rows.map((row) => {
    const cells = widths.map((width, column) => {
      const cell = row[column] ?? ''
      return column === 0 ? cell.padEnd(width) : cell.padStart(width)
    })
    return `| ${cells.join(' | ')} |`
  })
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(Math.max(1, width - 1))}:`,
  )
  return [first, `| ${rule.join(' | ')} |`, ...others, '']
}
