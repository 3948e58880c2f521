// SQL text for PostgreSQL: the values of a template are parameters, and statements in it are text.

/** The rows are parsed by the caller. */
export interface StatementResult {
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
