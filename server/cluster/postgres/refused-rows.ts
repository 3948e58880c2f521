// Rows that the database refuses: one of them must not stop the others of its batch.

/**
 * SQLSTATE of cardinality violations, data exceptions, violated constraints, and of a row that
 * exceeds a limit: a row of an index has at most 2704 bytes.
 */
const REFUSALS = /^(?:21|22|23|54)[0-9A-Z]{3}$/

export interface Splitting<Row> {
  /** Stores rows, all or none; returns whether there is any sense in more. */
  store: (rows: readonly Row[]) => Promise<boolean>
  onRefused: (row: Row, error: unknown) => void
}

/**
 * Stores all rows but those that the database refuses. Returns false once `store` has.
 *
 * @throws the other errors of `store`
 */
export async function storeUnlessRefused<Row>(
  rows: readonly Row[],
  splitting: Splitting<Row>,
): Promise<boolean> {
  try {
    return await splitting.store(rows)
  } catch (error) {
    const [only] = rows
    if (only === undefined || !isRefusal(error)) throw error
    if (rows.length === 1) {
      splitting.onRefused(only, error)
      return true
    }
  }
  const half = Math.ceil(rows.length / 2)
  return (
    (await storeUnlessRefused(rows.slice(0, half), splitting)) &&
    storeUnlessRefused(rows.slice(half), splitting)
  )
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && REFUSALS.test(String(error.code))
}
