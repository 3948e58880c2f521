// What an operator reads about a site without sessions, and about recordings that match no session:
// in the log, after `scan` and `check`, and on the operator's page.
import type { Logger } from 'pino'
import { countOf } from '../../shared/count-of.ts'
import { printable } from '../../shared/printable.ts'
import { findFittingLayout } from '../library/catalog/names/fitting-layout.ts'
import type { UnmatchedRecordings } from '../library/catalog/scan/unmatched.ts'
import type { Serving } from './library.ts'

export interface UnmatchedNote {
  text: string
  /** Whether another layout would find sessions. */
  hasRemedy: boolean
}

/** Undefined where every recording has a session, or nothing is known yet. */
export function describeUnmatched(
  unmatched: UnmatchedRecordings | undefined,
  { config: { layout }, library }: { config: { layout: string }; library: { name: string } },
): UnmatchedNote | undefined {
  const [example] = unmatched?.sample ?? []
  if (unmatched === undefined || example === undefined) return undefined
  const { count, isPartial, sample } = unmatched
  const found = isPartial ? `at least ${countOf(count, 'recording')}` : countOf(count, 'recording')
  const verb = count === 1 ? 'matches' : 'match'
  const problem = `${found} ${verb} no session, e.g. ${printable(example.path)}`
  const fitting = findFittingLayout(sample, library.name)
  if (fitting === undefined || fitting.layout === layout) {
    const remedy = 'no known layout fits: --layout takes a template, such as {streamer}/{date}'
    return { text: `${problem}; ${remedy}`, hasRemedy: false }
  }
  const isWhole = !isPartial && sample.length === count
  const ofSample = isWhole ? '' : `of a sample of ${sample.length}, `
  const remedy = `layout \`${fitting.layout}\` would match ${fitting.matches}`
  return { text: `${problem}; ${ofSample}${remedy}`, hasRemedy: true }
}

/** The note about the last walk, made once per walk. */
export function createUnmatchedNote(
  read: () => UnmatchedRecordings | undefined,
  configured: Parameters<typeof describeUnmatched>[1],
): () => UnmatchedNote | undefined {
  let known: { unmatched?: UnmatchedRecordings | undefined; note?: UnmatchedNote | undefined } = {}
  return () => {
    const unmatched = read()
    if (known.unmatched !== unmatched) {
      known = { unmatched, note: describeUnmatched(unmatched, configured) }
    }
    return known.note
  }
}

/** At `warn` where another layout would find sessions: some layouts leave out chat videos. */
export function logUnmatched(logger: Logger, note: UnmatchedNote | undefined): void {
  if (note !== undefined) logger[note.hasRemedy ? 'warn' : 'info'](note.text)
}

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
