// What the sections of the operator's page have in common. Pure.
import { markup } from './markup.ts'
import type { Markup } from './markup.ts'
import type { Part } from './operator-state.ts'

interface Heading {
  /** For links to the section. */
  id: string
  title: string
}

export function section({ id, title }: Heading, content: Markup): Markup {
  return markup`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${content}
  </section>`
}

/** A section of what was read, or a note that it could not be read. */
export function partSection<T>(
  heading: Heading,
  part: Part<T>,
  render: (value: T) => Markup,
): Markup {
  const content = part.status === 'unknown' ? UNKNOWN : render(part.value)
  return section(heading, content)
}

const UNKNOWN = quiet('Unknown: it could not be read. The log has the reason.')

export function quiet(text: string): Markup {
  return markup`<p class="quiet">${text}</p>`
}

interface Column {
  title: string
  /** `half`: of the table's width. Numbers are aligned at their end. */
  kind?: 'half' | 'number'
}

interface Table {
  caption: string
  columns: readonly Column[]
  /** A cell for each column; the first one is the row's heading. */
  rows: readonly (readonly (string | Markup | readonly Markup[])[])[]
}

export function table({ caption, columns, rows }: Table): Markup {
  const head = columns.map(
    ({ title, kind }) => markup`<th scope="col"${classOf(kind)}>${title}</th>`,
  )
  const body = rows.map(([heading, ...cells]) => {
    const rest = cells.map((cell, at) => markup`<td${classOf(columns[at + 1]?.kind)}>${cell}</td>`)
    return markup`<tr><th scope="row">${heading}</th>${rest}</tr>`
  })
  return markup`<table>
    <caption>${caption}</caption>
    <thead><tr>${head}</tr></thead>
    <tbody>${body}</tbody>
  </table>`
}

function classOf(kind: Column['kind']): Markup | undefined {
  return kind && markup` class="${kind}"`
}
