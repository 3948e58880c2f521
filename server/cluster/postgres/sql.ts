// SQL text for PostgreSQL: the values of a template are parameters, and statements in it are text.
import { z } from 'zod'

export interface StatementResult {
  /** As the driver returns them. */
  rows: unknown[]
  rowCount: number | null
}

/** A database or a transaction. */
export interface Queryable {
  /** Runs text with `$1` and so on. */
  query(text: string, values: readonly unknown[]): Promise<StatementResult>
}

export class Statement {
  readonly #texts: readonly string[]
  readonly #values: readonly unknown[]

  constructor(texts: readonly string[], values: readonly unknown[]) {
    this.#texts = texts
    this.#values = values
  }

  async execute(database: Queryable): Promise<StatementResult> {
    const values: unknown[] = []
    return database.query(this.#format(values), values)
  }

  /** Executes it, and parses its rows. @throws also for rows of another shape */
  async rows<Row>(database: Queryable, shape: z.ZodType<Row>): Promise<Row[]> {
    return z.array(shape).parse((await this.execute(database)).rows)
  }

  /** As `rows`, for a statement with one row. */
  async row<Row>(database: Queryable, shape: z.ZodType<Row>): Promise<Row> {
    return shape.parse((await this.execute(database)).rows[0])
  }

  #format(parameters: unknown[]): string {
    return this.#texts.reduce((text, next, at) => {
      const value = this.#values[at - 1]
      if (value instanceof Statement) return text + value.#format(parameters) + next
      parameters.push(value)
      return `${text}$${parameters.length}${next}`
    })
  }
}

export function sql(texts: TemplateStringsArray, ...values: unknown[]): Statement {
  return new Statement(texts, values)
}

/** Text of this program, without parameters. */
export function rawSql(text: string): Statement {
  return new Statement([text], [])
}
