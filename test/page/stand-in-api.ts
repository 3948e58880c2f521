// A small real HTTP server that answers the page's calls, for tests of the page without the product's server.
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ConfigResponse, SessionItem, StreamerItem } from '../../shared/contract.ts'

export interface StandInApi {
  /** Origin, e.g. `http://127.0.0.1:40123`. */
  base: string
  /** Paths in the order in which they were asked for, as they were sent. */
  requests: string[]
  /** What is answered; may be changed while it runs. */
  library: StandInLibrary
  close(): Promise<void>
}

export interface StandInLibrary {
  streamers: StreamerItem[]
  /** By streamer; an unknown one is answered 404. */
  sessions: Record<string, SessionItem[]>
  /** Ads and analytics; without it the call is answered 404. */
  config?: ConfigResponse
  /** Paths answered 500. */
  broken: Set<string>
  /** What is waited for before each answer. */
  gate: Promise<void>
}

/** Listens on a free port of the loopback interface. */
export async function startStandInApi(library: Partial<StandInLibrary> = {}): Promise<StandInApi> {
  const api: StandInLibrary = {
    streamers: [],
    sessions: {},
    broken: new Set(),
    gate: Promise.resolve(),
    ...library,
  }
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    void api.gate.then(() => answer(api, request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    base: `http://127.0.0.1:${address.port}`,
    requests,
    library: api,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer(api: StandInLibrary, request: IncomingMessage, response: ServerResponse): void {
  const path = request.url ?? ''
  response.setHeader('access-control-allow-origin', '*')
  if (api.broken.has(path)) return send(response, 500, { error: { code: 'failed', message: 'no' } })
  if (path === '/api/streamers') return send(response, 200, { streamers: api.streamers })
  if (path === '/api/config' && api.config) return send(response, 200, api.config)
  const [, streamer] = /^\/api\/sessions\/([^/]+)$/.exec(path) ?? []
  const sessions = streamer && api.sessions[decodeURIComponent(streamer)]
  if (sessions) return send(response, 200, sessions)
  send(response, 404, { error: { code: 'not_found', message: 'no' } })
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
