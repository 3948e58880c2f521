// The routes of the operator's page on the private listener: the page, and the form that hides
// names.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isForeignOrigin } from '../analytics/request-origin.ts'
import type { NameToHide } from '../../../shared/name-to-hide.ts'
import { parseHiddenNamesForm, readForm } from './hidden-names-form.ts'
import type { HiddenNamesForm } from './hidden-names-form.ts'
import { HIDDEN_NAMES_PATH, OPERATOR_PATH, parseDone } from './operator-page.ts'
import { renderOperatorPage, renderRefusal } from './operator-page.ts'
import type { Done } from './operator-page.ts'
import type { OperatorState } from './operator-state.ts'
import { createPageHeaders } from './page-style.ts'
import { shareReads } from './shared-reads.ts'
import { createTokenCheck } from './token-check.ts'

export interface OperatorRoutesOptions {
  /** Undefined: the page is read-only. */
  token: string | undefined
  /** Called by at most one request at a time. */
  readState: () => Promise<OperatorState>
  change: (change: NameChange) => Promise<ChangeOutcome>
  log: OperatorLog
  /** Milliseconds of a monotonic clock. */
  now: () => number
}

export interface NameChange extends Pick<HiddenNamesForm, 'action' | 'reason'> {
  name: NameToHide
}

export interface ChangeOutcome {
  /** False if the name was hidden, or visible, before. */
  isChanged: boolean
  /** Whether the catalog has a recording of this name. */
  isKnown: boolean
}

export interface OperatorLog {
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
}

/** Responds to a request of the operator's page; returns false for any other path. */
export type OperatorRoutes = (request: IncomingMessage, response: ServerResponse) => boolean

export function createOperatorRoutes(options: OperatorRoutesOptions): OperatorRoutes {
  const { token, readState, log } = options
  const states = shareReads(readState)
  const headers = createPageHeaders()
  const routes: Record<string, Route> = {
    [OPERATOR_PATH]: {
      methods: ['GET', 'HEAD'],
      respond: async (request) => {
        const done = parseDone(queryOf(request).get('done'))
        const page = renderOperatorPage(await states.read(), {
          done,
          canChange: token !== undefined,
        })
        return { status: 200, page }
      },
    },
    [HIDDEN_NAMES_PATH]: {
      methods: ['POST'],
      respond: createChangeRoute({ ...options, onChange: () => states.renew() }),
    },
  }
  return (request, response) => {
    const route = routes[(request.url ?? '').split('?', 1)[0] ?? '']
    if (route === undefined) return false
    respond(route, request)
      .catch((err: unknown) => {
        log.warn({ err }, "the operator's page could not be rendered")
        return refuse(500, 'An error occurred. The log has the reason.')
      })
      .then((answer) => send({ request, response, headers, answer }))
      .catch(() => response.destroy())
    return true
  }
}

interface Route {
  methods: string[]
  respond: (request: IncomingMessage) => Promise<PageResponse>
}

interface PageResponse {
  status: number
  page?: string
  headers?: Record<string, string>
}

async function respond({ methods, respond: run }: Route, request: IncomingMessage) {
  if (methods.includes(request.method ?? '')) return run(request)
  return refuse(405, 'The method is not supported.', { allow: methods.join(', ') })
}

interface Sent {
  request: IncomingMessage
  response: ServerResponse
  headers: Readonly<Record<string, string>>
  answer: PageResponse
}

function send({ request, response, headers, answer }: Sent): void {
  const body = Buffer.from(answer.page ?? '')
  response.writeHead(answer.status, {
    ...headers,
    'content-type': 'text/html; charset=utf-8',
    'content-length': body.length,
    ...answer.headers,
    // The rest of a body that was not read is not the next request.
    ...(!request.complete && { connection: 'close' }),
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

interface ChangeRouteOptions extends OperatorRoutesOptions {
  onChange: () => void
}

function createChangeRoute({ token, change, log, now, onChange }: ChangeRouteOptions) {
  if (token === undefined) {
    return async () => refuse(403, 'This page is read-only: server.operatorToken is not set.')
  }
  const checkToken = createTokenCheck(token, now)
  return async (request: IncomingMessage): Promise<PageResponse> => {
    if (isOfOtherSite(request)) return refuse(403, 'The form was sent by another site.')
    if (!isForm(request)) return refuse(415, 'The body is not a form.')
    const body = await readForm(request)
    if (body === undefined) return refuse(413, 'The form is too large.')
    const form = parseHiddenNamesForm(body)
    if (form === undefined) return refuse(400, 'The form is incomplete, or a field is too long.')
    const address = request.socket.remoteAddress ?? ''
    const result = checkToken(form.token, address)
    if (result.status === 'later') {
      const retryAfter = { 'retry-after': String(result.seconds) }
      return refuse(429, `Too many wrong tokens. Wait ${result.seconds} s.`, retryAfter)
    }
    if (result.status === 'wrong') {
      log.warn({ address }, "a wrong token was entered on the operator's page")
      return refuse(403, 'The token is wrong.')
    }
    const { name, action, reason } = form
    if (name === undefined) {
      return refuse(400, 'The name must be a streamer, or STREAMER/DATE/ID of a session.')
    }
    try {
      const outcome = await change({ name, action, reason })
      log.info({ action, name, address }, "a name was changed on the operator's page")
      return redirect(doneOf(action, outcome))
    } catch (err) {
      log.warn({ err }, "a change on the operator's page failed")
      return refuse(503, 'The change failed. The log has the reason.')
    } finally {
      onChange()
    }
  }
}

function isOfOtherSite({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  // Browsers send it only over TLS, or to this machine (Fetch Metadata 2.1).
  if (site !== undefined && site !== 'same-origin') return true
  return isForeignOrigin({ headers, host: headers.host ?? '', protocol: 'http' }, [])
}

function isForm({ headers }: IncomingMessage): boolean {
  return /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers['content-type'] ?? '')
}

function doneOf(action: NameChange['action'], { isChanged, isKnown }: ChangeOutcome): Done {
  if (action === 'unhide') return isChanged ? 'visible' : 'was-visible'
  if (!isChanged) return 'was-hidden'
  return isKnown ? 'hidden' : 'hidden-unknown'
}

function redirect(done: Done): PageResponse {
  return { status: 303, headers: { location: `${OPERATOR_PATH}?done=${done}` } }
}

function refuse(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): PageResponse {
  return { status, page: renderRefusal(message), headers }
}

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  return new URLSearchParams(url.slice(OPERATOR_PATH.length))
}
