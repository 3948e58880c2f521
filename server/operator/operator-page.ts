// The operator's page as HTML, from its state. Pure.
import { MAX_REASON_LENGTH } from '../../shared/name-to-hide.ts'
import { cachesSection, disksSection, librarySection, nodeSection } from './figures.ts'
import { formatAge, formatTime } from './format.ts'
import { hiddenTable, imperfectSection, logSection, topSection, unknown } from './lists.ts'
import { Markup, markup } from './markup.ts'
import type { OperatorState } from './operator-state.ts'
import { PAGE_STYLE } from './page-style.ts'

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
  if (!canChange) {
    return markup`<section aria-labelledby="hide">
      <h2 id="hide">Hide a streamer or a session</h2>
      <p>
        This page is read-only. To hide names here, set
        <code>server.operatorToken</code> (<code>AFTERCAST_OPERATOR_TOKEN</code>) to at least 16
        characters and restart the server; or run <code>aftercast hide</code>.
      </p>
    </section>`
  }
  return markup`<section aria-labelledby="hide">
    <h2 id="hide">Hide a streamer or a session</h2>
    <form class="fields" method="post" action="${HIDDEN_NAMES_PATH}" autocomplete="off">
      <label
        >Name, such as alice or alice/2026-01-31/1001
        <input name="name" required autocapitalize="none" spellcheck="false" dir="auto" />
      </label>
      <label
        >Reason, for the log (optional)
        <input name="reason" maxlength="${MAX_REASON_LENGTH}" />
      </label>
      ${tokenField()}
      <div class="buttons">
        <button name="action" value="hide">Hide</button>
        <button class="second" name="action" value="unhide">Show again</button>
      </div>
    </form>
  </section>`
}

function hiddenSection({ hidden }: OperatorState, { canChange }: PageOptions): Markup {
  const heading = markup`<h2 id="hidden">Hidden names</h2>`
  if (hidden.status === 'unknown') {
    return markup`<section aria-labelledby="hidden">${heading} ${unknown()}</section>`
  }
  const { names } = hidden.value
  if (names.total === 0) {
    return markup`<section aria-labelledby="hidden">
      ${heading}
      <p class="quiet">Nothing is hidden.</p>
    </section>`
  }
  if (!canChange) {
    return markup`<section aria-labelledby="hidden">
      ${heading} ${hiddenTable(names, { isSelectable: false })}
    </section>`
  }
  return markup`<section aria-labelledby="hidden">
    ${heading}
    <form method="post" action="${HIDDEN_NAMES_PATH}" autocomplete="off">
      ${hiddenTable(names, { isSelectable: true })}
      <div class="fields">
        <label
          >Reason, for the log (optional)
          <input name="reason" maxlength="${MAX_REASON_LENGTH}" />
        </label>
        ${tokenField()}
        <div class="buttons">
          <button name="action" value="unhide">Show the selected name again</button>
        </div>
      </div>
    </form>
  </section>`
}

function tokenField(): Markup {
  return markup`<label
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
