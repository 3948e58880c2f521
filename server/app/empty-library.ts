// What an operator does about a site without sessions.
import type { Serving } from './serving.ts'

/** The problem and its remedy in one line; undefined if the catalog lists a session. */
export function describeEmptyLibrary({
  config: { recordings, layout },
  library: { database },
}: Pick<Serving, 'config' | 'library'>): string | undefined {
  const listed = database.query<object, { listed: number }>(
    'SELECT listed FROM recordings ORDER BY listed DESC LIMIT 1',
  )
  const found = listed.get({})
  if (recordings === undefined || found?.listed === 1) return undefined
  const check = '`aftercast check` with the same options lists'
  if (found !== undefined) return `no recording below ${recordings} is playable: ${check} why`
  return (
    `no recordings found below ${recordings}: name their folder, and their layout, which now is ` +
    `${layout} (docs/layouts.md); ${check} what it finds`
  )
}
