// The lists of the operator's page: recordings that are not fully playable, most played sessions,
// hidden names and their log. Pure.
import type { TopSessions } from '../analytics/activity-stats.ts'
import type { HiddenRow } from '../../library/catalog/store/hidden.ts'
import type { HiddenSummary, Listing } from '../../library/catalog/store/operator-queries.ts'
import { formatBytes, formatCount, formatName, formatNetwork, formatTime } from './format.ts'
import { markup, nameMarkup } from './markup.ts'
import type { Markup } from './markup.ts'
import { TOP_DAYS } from './operator-state.ts'
import type { ImperfectRow, ImperfectState, NetworkRow, Part } from './operator-state.ts'
import { partSection, quiet, section, table } from './sections.ts'

export function imperfectSection(imperfect: Part<ImperfectState>): Markup {
  const heading = { id: 'imperfect', title: 'Recordings that are not fully playable' }
  return partSection(
    heading,
    imperfect,
    (state) => markup`${imperfectTables(state)}
      <p class="quiet">Newest dates first. <code>aftercast check</code> lists all of them.</p>`,
  )
}

function imperfectTables({ unplayable, limited, duplicates }: ImperfectState): Markup[] {
  const lists = [
    imperfectTable('Unplayable', unplayable),
    imperfectTable('Partly playable', limited),
    imperfectTable('Not served: newest recordings with the name of another one', duplicates),
  ].flat()
  return lists.length === 0 ? [markup`<p>None.</p>`] : lists
}

function imperfectTable(caption: string, { total, rows }: Listing<ImperfectRow>): Markup[] {
  if (rows.length === 0) return []
  return [
    table({
      caption: `${caption}: ${shownOf(rows.length, total)}`,
      columns: [{ title: 'Recording', kind: 'half' }, { title: 'Problem, and remedy' }],
      rows: rows.map(({ path, problems }) => [nameMarkup(path), problemsMarkup(problems)]),
    }),
  ]
}

/** Problems per recording: one of many parts may have very many. */
const MAX_PROBLEMS = 5

function problemsMarkup(problems: ImperfectRow['problems']): Markup[] {
  if (problems === undefined) {
    return [markup`<span class="quiet">Not read in time: refresh, or run aftercast check.</span>`]
  }
  const shown = problems.slice(0, MAX_PROBLEMS).map(
    ({ message, advice }) =>
      markup`<div>${nameMarkup(message)}</div>
        <div class="quiet">${nameMarkup(advice)}</div>`,
  )
  const rest = problems.length - shown.length
  return rest === 0 ? shown : [...shown, markup`<div class="quiet">and ${rest} more</div>`]
}

export function topSection(top: Part<TopSessions>): Markup {
  return partSection({ id: 'top', title: 'Most played sessions' }, top, (sessions) => {
    if (sessions.length === 0) return quiet('Nothing was counted.')
    return table({
      caption: `The last ${TOP_DAYS} days (UTC)`,
      columns: [
        { title: 'Session' },
        { title: 'Plays', kind: 'number' },
        { title: 'Views', kind: 'number' },
      ],
      rows: sessions.map(({ plays, views, ...session }) => [
        nameMarkup(formatName(session)),
        formatCount(plays),
        formatCount(views),
      ]),
    })
  })
}

export function networksSection(networks: readonly NetworkRow[]): Markup {
  const content =
    networks.length === 0
      ? quiet('Nothing was sent.')
      : table({
          caption: 'The last hour. Nothing of this is stored.',
          columns: [{ title: 'Network' }, { title: 'Bytes', kind: 'number' }],
          rows: networks.map(({ network, bytes }) => [
            nameMarkup(formatNetwork(network)),
            formatBytes(bytes),
          ]),
        })
  return section({ id: 'networks', title: 'Heaviest networks' }, content)
}

/** @param isSelectable whether each row has a radio button of the form around it */
export function hiddenTable(
  { total, rows }: Listing<HiddenRow>,
  { isSelectable }: { isSelectable: boolean },
): Markup {
  const cellOf = isSelectable ? selectableName : (row: HiddenRow) => nameMarkup(formatName(row))
  return table({
    caption: `Streamers and sessions: ${shownOf(rows.length, total)}`,
    columns: [{ title: 'Name' }],
    rows: rows.map((row) => [cellOf(row)]),
  })
}

function selectableName(row: HiddenRow): Markup {
  return markup`<label class="choice">
    <input type="radio" name="listed" required value="${encodeName(row)}" />
    ${nameMarkup(formatName(row))}
  </label>`
}

/** Browsers change line ends in the values of forms, and names may have some. */
function encodeName({ streamer, date, sessionId }: HiddenRow): string {
  const parts = sessionId === '' ? [streamer] : [streamer, date, sessionId]
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/')
}

export function logSection(hidden: Part<HiddenSummary>): Markup {
  return partSection({ id: 'log', title: 'Log of hidden names' }, hidden, ({ log }) => {
    if (log.rows.length === 0) return quiet('Nothing was hidden.')
    return table({
      caption: `Newest first: ${shownOf(log.rows.length, log.total)}`,
      columns: [{ title: 'Name', kind: 'half' }, { title: 'Change, time (UTC) and reason' }],
      rows: log.rows.map(({ atMs, action, reason, ...name }) => [
        nameMarkup(formatName(name)),
        markup`${action} <time>${formatTime(atMs)}</time>
          <div class="quiet">${nameMarkup(reason)}</div>`,
      ]),
    })
  })
}

function shownOf(shown: number, total: number): string {
  return shown < total ? `${formatCount(shown)} of ${formatCount(total)}` : formatCount(total)
}
