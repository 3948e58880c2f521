// The lists of the operator's page: recordings that are not fully playable, most played sessions,
// hidden names and their log. Pure.
import type { TopSessions } from '../analytics/activity-stats.ts'
import type { HiddenRow } from '../catalog/store/hidden.ts'
import type { HiddenSummary, Listing } from '../catalog/store/operator-queries.ts'
import { formatCount, formatName, formatTime } from './format.ts'
import { markup, nameMarkup } from './markup.ts'
import type { Markup } from './markup.ts'
import { TOP_DAYS } from './operator-state.ts'
import type { ImperfectRow, ImperfectState, Part } from './operator-state.ts'

/** In place of a part that could not be read. */
export function unknown(): Markup {
  return markup`<p class="quiet">Unknown: it could not be read. The log has the reason.</p>`
}

export function imperfectSection(imperfect: Part<ImperfectState>): Markup {
  const content =
    imperfect.status === 'unknown' ? unknown() : markup`${imperfectTables(imperfect.value)}`
  return markup`<section aria-labelledby="imperfect">
    <h2 id="imperfect">Recordings that are not fully playable</h2>
    ${content}
    <p class="quiet">Newest dates first. <code>aftercast check</code> lists all of them.</p>
  </section>`
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
  const body = rows.map(
    ({ path, problems }) =>
      markup`<tr>
        <th scope="row">${nameMarkup(path)}</th>
        <td>${problemsMarkup(problems)}</td>
      </tr>`,
  )
  return [
    markup`<table>
      <caption>
        ${caption}: ${shownOf(rows.length, total)}
      </caption>
      <thead>
        <tr>
          <th scope="col" class="half">Recording</th>
          <th scope="col">Problem, and remedy</th>
        </tr>
      </thead>
      <tbody>
        ${body}
      </tbody>
    </table>`,
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
  return markup`<section aria-labelledby="top">
    <h2 id="top">Most played sessions</h2>
    ${top.status === 'unknown' ? unknown() : topTable(top.value)}
  </section>`
}

function topTable(sessions: TopSessions): Markup {
  if (sessions.length === 0) return markup`<p class="quiet">Nothing was counted.</p>`
  const body = sessions.map(
    ({ plays, views, ...session }) =>
      markup`<tr>
        <th scope="row">${nameMarkup(formatName(session))}</th>
        <td class="number">${formatCount(plays)}</td>
        <td class="number">${formatCount(views)}</td>
      </tr>`,
  )
  return markup`<table>
    <caption>
      The last ${TOP_DAYS} days (UTC)
    </caption>
    <thead>
      <tr>
        <th scope="col">Session</th>
        <th scope="col" class="number">Plays</th>
        <th scope="col" class="number">Views</th>
      </tr>
    </thead>
    <tbody>
      ${body}
    </tbody>
  </table>`
}

/** @param isSelectable whether each row has a radio button of the form around it */
export function hiddenTable(
  { total, rows }: Listing<HiddenRow>,
  { isSelectable }: { isSelectable: boolean },
): Markup {
  const body = rows.map((row, at) => {
    const id = `name-${at}`
    const name = nameMarkup(formatName(row))
    if (!isSelectable)
      return markup`<tr>
        <th scope="row">${name}</th>
      </tr>`
    return markup`<tr>
      <td class="short">
        <input type="radio" name="listed" required id="${id}" value="${encodeName(row)}" />
      </td>
      <th scope="row"><label for="${id}">${name}</label></th>
    </tr>`
  })
  const select = isSelectable ? markup`<th scope="col" class="short">Select</th>` : undefined
  return markup`<table>
    <caption>Streamers and sessions: ${shownOf(rows.length, total)}</caption>
    <thead>
      <tr>
        ${select}
        <th scope="col">Name</th>
      </tr>
    </thead>
    <tbody>
      ${body}
    </tbody>
  </table>`
}

/** Browsers change line ends in the values of forms, and names may have some. */
function encodeName({ streamer, date, sessionId }: HiddenRow): string {
  const parts = sessionId === '' ? [streamer] : [streamer, date, sessionId]
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/')
}

export function logSection(hidden: Part<HiddenSummary>): Markup {
  return markup`<section aria-labelledby="log">
    <h2 id="log">Log of hidden names</h2>
    ${hidden.status === 'unknown' ? unknown() : logTable(hidden.value.log)}
  </section>`
}

function logTable({ total, rows }: HiddenSummary['log']): Markup {
  if (rows.length === 0) return markup`<p class="quiet">Nothing was hidden.</p>`
  const body = rows.map(
    ({ atMs, action, reason, ...name }) => markup`<tr>
      <th scope="row">${nameMarkup(formatName(name))}</th>
      <td>
        ${action} <time>${formatTime(atMs)}</time>
        <div class="quiet">${nameMarkup(reason)}</div>
      </td>
    </tr>`,
  )
  return markup`<table>
    <caption>Newest first: ${shownOf(rows.length, total)}</caption>
    <thead>
      <tr>
        <th scope="col" class="half">Name</th>
        <th scope="col">Change, time (UTC) and reason</th>
      </tr>
    </thead>
    <tbody>${body}</tbody>
  </table>`
}

function shownOf(shown: number, total: number): string {
  return shown < total ? `${formatCount(shown)} of ${formatCount(total)}` : formatCount(total)
}
