// The operator's page as HTML, from its state. Pure.
import { MAX_REASON_LENGTH } from '../../../shared/name-to-hide.ts'
import { cachesSection, disksSection, librarySection, nodeSection } from './figures.ts'
import { formatAge, formatTime } from './format.ts'
import { hiddenTable, imperfectSection, logSection, networksSection, topSection } from './lists.ts'
import { Markup, markup } from './markup.ts'
import type { OperatorState } from './operator-state.ts'
import { PAGE_STYLE } from './page-style.ts'
import { partSection, quiet, section } from './sections.ts'

/** Paths on the private listener. */
export const OPERATOR_PATH = '/operator'
export const HIDDEN_NAMES_PATH = '/operator/hidden'

/** What a change did; the page after it shows one of these messages. */
export type Done = keyof typeof DONE

const DONE = {
  hidden: 'The name is hidden. The site changes within five seconds.',
  'hidden-unknown':
    'The name is hidden, but the catalog has no recording of it: check its spelling. ' +
    'A recording of this name will be hidden when it appears.',
  'was-hidden': 'The name was already hidden.',
  visible: 'The name is visible again. The site changes within five seconds.',
  'was-visible': 'Exactly this name was not hidden.',
} as const

/** A code of the closed list; undefined for any other text. */
export function parseDone(text: string | null): Done | undefined {
  return Object.keys(DONE).find((code): code is Done => code === text)
}

export interface PageOptions {
  done: Done | undefined
  /** Whether an operator's token is configured. */
  canChange: boolean
}

export function renderOperatorPage(state: OperatorState, options: PageOptions): string {
  const { done } = options
  const message =
    done === undefined ? undefined : markup`<p class="message" role="status">${DONE[done]}</p>`
  return renderDocument(
    'Operator',
    markup`
      <header>
        <h1>Aftercast operator</h1>
        <p class="quiet">
          Version ${state.version}, running for ${formatAge(state.uptimeSeconds)}, as of
          ${formatTime(state.atMs)}. <a href="${OPERATOR_PATH}">Refresh</a>
        </p>
      </header>
      <main>
        ${message}
        <div class="grid">
          ${librarySection(state.library)} ${state.node && nodeSection(state.node)}
          ${disksSection(state.disks)} ${cachesSection(state.caches)}
        </div>
        ${hideSection(options)} ${hiddenSection(state, options)}
        ${imperfectSection(state.imperfect)} ${state.top && topSection(state.top)}
        ${networksSection(state.networks)}
        ${logSection(state.hidden)}
      </main>
    `,
  )
}

/** A page with one message, for requests that were refused. */
export function renderRefusal(message: string): string {
  return renderDocument(
    'Refused',
    markup`
      <main>
        <h1>Nothing was changed</h1>
        <p class="message" role="alert">${message}</p>
        <p><a href="${OPERATOR_PATH}">Back to the operator’s page</a></p>
      </main>
    `,
  )
}

function hideSection({ canChange }: PageOptions): Markup {
  return section(
    { id: 'hide', title: 'Hide a streamer or a session' },
    canChange ? hideForm() : READ_ONLY,
  )
}

const READ_ONLY = markup`<p>
  This page is read-only. To hide names here, set <code>server.operatorToken</code>
  (<code>AFTERCAST_OPERATOR_TOKEN</code>) to at least 16 characters and restart the server; or run
  <code>aftercast hide</code>.
</p>`

function hideForm(): Markup {
  return markup`<form
    class="fields"
    method="post"
    action="${HIDDEN_NAMES_PATH}"
    autocomplete="off"
  >
    <label
      >Name, such as alice or alice/2026-01-31/1001
      <input name="name" required autocapitalize="none" spellcheck="false" dir="auto" />
    </label>
    ${changeFields()}
    <div class="buttons">
      <button name="action" value="hide">Hide</button>
      <button class="second" name="action" value="unhide">Show again</button>
    </div>
  </form>`
}

function hiddenSection({ hidden }: OperatorState, { canChange }: PageOptions): Markup {
  return partSection({ id: 'hidden', title: 'Hidden names' }, hidden, ({ names }) => {
    if (names.total === 0) return quiet('Nothing is hidden.')
    if (!canChange) return hiddenTable(names, { isSelectable: false })
    return markup`<form method="post" action="${HIDDEN_NAMES_PATH}" autocomplete="off">
      ${hiddenTable(names, { isSelectable: true })}
      <div class="fields">
        ${changeFields()}
        <div class="buttons">
          <button name="action" value="unhide">Show the selected name again</button>
        </div>
      </div>
    </form>`
  })
}

/** What both forms have: the reason of a change, and the token. */
function changeFields(): Markup {
  return markup`<label
      >Reason, for the log (optional)
      <input name="reason" maxlength="${MAX_REASON_LENGTH}" />
    </label>
    <label
      >Operator’s token
      <input type="password" name="token" required autocomplete="off" />
    </label>`
}

function renderDocument(title: string, body: Markup): string {
  // The hash of the policy covers exactly the text of the style.
  const { text } = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Aftercast</title>
<style>${new Markup(PAGE_STYLE)}</style>
</head>
<body>${body}</body>
</html>
`
  return text
}
