// A small HTTP server with the page's API, for tests of the page without the real server.
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type {
  ConfigResponse,
  DetailsResponse,
  SessionItem,
  StreamerItem,
} from '../../shared/contract.ts'

export interface FakeApi {
  /** Origin, e.g. `http://127.0.0.1:40123`. */
  base: string
  /** Requested paths, in order, undecoded. */
  requests: string[]
  /** Content of the responses; tests may change it. */
  library: FakeLibrary
  close(): Promise<void>
}

export interface FakeLibrary {
  streamers: StreamerItem[]
  /** By streamer; others are 404. */
  sessions: Record<string, SessionItem[]>
  /** By streamer; others are 404. */
  details: Record<string, DetailsResponse>
  /** Ads and analytics; 404 if it is missing. */
  config?: ConfigResponse
  /** Paths with status 500. */
  broken: Set<string>
  /** Delays every response until it resolves. */
  gate: Promise<void>
}

/** Listens on a free port of the loopback interface. */
export async function startFakeApi(library: Partial<FakeLibrary> = {}): Promise<FakeApi> {
  const api: FakeLibrary = {
    streamers: [],
    sessions: {},
    details: {},
    broken: new Set(),
    gate: Promise.resolve(),
    ...library,
  }
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    void api.gate.then(() => respond(api, request, response))
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

function respond(api: FakeLibrary, request: IncomingMessage, response: ServerResponse): void {
  const path = request.url ?? ''
  response.setHeader('access-control-allow-origin', '*')
  if (api.broken.has(path)) return send(response, 500, { error: { code: 'failed', message: 'no' } })
  if (path === '/api/streamers') return send(response, 200, { streamers: api.streamers })
  if (path === '/api/config' && api.config) return send(response, 200, api.config)
  const [, list, streamer = ''] = /^\/api\/(sessions|details)\/([^/]+)$/.exec(path) ?? []
  const lists = list === 'details' ? api.details : api.sessions
  const found = lists[decodeURIComponent(streamer)]
  if (found) return send(response, 200, found)
  send(response, 404, { error: { code: 'not_found', message: 'no' } })
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
