// What an operator does about a library in which nothing was found.
import type { Serving } from './serving.ts'

/** The problem and its remedy in one line; undefined if the catalog has a recording. */
export function describeEmptyLibrary({
  config: { recordings, layout },
  library: { database },
}: Pick<Serving, 'config' | 'library'>): string | undefined {
  const first = database.prepare<object>()((kysely) =>
    kysely.selectFrom('recordings').select('id').limit(1),
  )
  if (recordings === undefined || first.get({}) !== undefined) return undefined
  return (
    `no recordings found below ${recordings}: name their folder, and their layout, which now is ` +
    `${layout} (docs/layouts.md); \`aftercast check\` with the same options lists what it finds`
  )
}
