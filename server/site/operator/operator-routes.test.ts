// The routes of the operator's page over real sockets, without a library.
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { createOperatorRoutes } from './operator-routes.ts'
import type { NameChange, OperatorRoutesOptions } from './operator-routes.ts'
import type { OperatorState } from './operator-state.ts'

const TOKEN = 'a token of the operator'
const unread = { status: 'unknown' } as const
const state: OperatorState = {
  version: '1',
  uptimeSeconds: 0,
  atMs: 0,
  library: unread,
  disks: [],
  caches: unread,
  imperfect: unread,
  networks: [],
  hidden: unread,
}

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

async function serve(options: Partial<OperatorRoutesOptions> = {}) {
  const changes: NameChange[] = []
  const clock = { ms: 0 }
  const routes = createOperatorRoutes({
    token: TOKEN,
    readState: async () => state,
    change: async (change) => {
      changes.push(change)
      return { isChanged: true, isKnown: change.name.streamer !== 'nobody' }
    },
    log: { warn: () => undefined, info: () => undefined },
    now: () => clock.ms,
    ...options,
  })
  const server = createServer((request, response) => {
    if (!routes(request, response)) response.writeHead(404).end()
  })
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const post = async (
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(`${url}/operator/hidden`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers,
      redirect: 'manual',
    })
  return { url, post, changes, clock }
}

const hideAlice = { action: 'hide', name: 'alice', token: TOKEN }

describe('a form with the token', () => {
  it('changes a name, and redirects to a message', async () => {
    const { post, changes } = await serve()
    const hidden = await post({ ...hideAlice, reason: ' by request ' })
    expect([hidden.status, hidden.headers.get('location')]).toEqual([303, '/operator?done=hidden'])
    const unknown = await post({ ...hideAlice, name: 'nobody/2026-01-31/1' })
    expect(unknown.headers.get('location')).toBe('/operator?done=hidden-unknown')
    const shown = await post({ action: 'unhide', listed: 'a%2Fb/c/d%0A', token: TOKEN })
    expect(shown.headers.get('location')).toBe('/operator?done=visible')
    const nobody = { streamer: 'nobody', date: '2026-01-31', sessionId: '1' }
    expect(changes).toEqual([
      { action: 'hide', name: { kind: 'streamer', streamer: 'alice' }, reason: 'by request' },
      { action: 'hide', name: { kind: 'session', ...nobody }, reason: '' },
      {
        action: 'unhide',
        name: { kind: 'session', streamer: 'a/b', date: 'c', sessionId: 'd\n' },
        reason: '',
      },
    ])
  })

  it('is refused if it is of another site', async () => {
    const { url, post, changes } = await serve()
    const foreign: Record<string, string>[] = [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: url },
      { 'sec-fetch-site': 'none' },
    ]
    for (const headers of foreign) expect((await post(hideAlice, headers)).status).toBe(403)
    expect(changes).toEqual([])
    expect((await post(hideAlice, { origin: url })).status).toBe(303)
  })

  it('is refused if it is invalid', async () => {
    const { url, post, changes } = await serve()
    const statusOf = async (fields: object): Promise<number> =>
      (await post({ ...hideAlice, ...fields })).status
    expect(await statusOf({ action: 'remove' })).toBe(400)
    expect(await statusOf({ name: 'a/b' })).toBe(400)
    expect(await statusOf({ listed: '%' })).toBe(400)
    expect(await statusOf({ reason: 'x'.repeat(501) })).toBe(400)
    expect(await statusOf({ name: 'x'.repeat(4096) })).toBe(413)
    const body = JSON.stringify(hideAlice)
    expect((await fetch(`${url}/operator/hidden`, { method: 'POST', body })).status).toBe(415)
    expect((await fetch(`${url}/operator/hidden`)).headers.get('allow')).toBe('POST')
    expect(changes).toEqual([])
  })

  it('is refused where the length of a large body is unknown', async () => {
    const { url } = await serve()
    const body = new Blob(['x'.repeat(5000)]).stream()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const init = { method: 'POST', headers, body, duplex: 'half' } as const
    const status = await fetch(`${url}/operator/hidden`, init).then(
      (response) => response.status,
      () => 'closed',
    )
    expect([413, 'closed']).toContain(status)
  })

  it('reports a change that failed', async () => {
    const change = async () => Promise.reject(new Error('no database'))
    const { post } = await serve({ change })
    const response = await post(hideAlice)
    expect(response.status).toBe(503)
    expect(await response.text()).not.toContain('no database')
  })
})

describe('a wrong token', () => {
  it('changes nothing, and is refused more slowly after five', async () => {
    const { post, changes, clock } = await serve()
    for (let i = 0; i < 5; i += 1)
      expect((await post({ ...hideAlice, token: `${TOKEN}${i}` })).status).toBe(403)
    const later = await post(hideAlice)
    expect([later.status, later.headers.get('retry-after')]).toEqual([429, '60'])
    expect(changes).toEqual([])
    clock.ms = 60_000
    expect((await post(hideAlice)).status).toBe(303)
  })

  it('is not limited for those who have the token', async () => {
    const { post } = await serve()
    for (let i = 0; i < 10; i += 1) expect((await post(hideAlice)).status).toBe(303)
  })

  it('is any token if none is configured', async () => {
    const { url, post, changes } = await serve({ token: undefined })
    expect((await post(hideAlice)).status).toBe(403)
    expect((await post({ ...hideAlice, token: '' })).status).toBe(403)
    expect(changes).toEqual([])
    expect(await (await fetch(`${url}/operator`)).text()).toContain('read-only')
  })
})

describe('the page', () => {
  it('is never stored, and responds to GET and HEAD', async () => {
    const { url } = await serve()
    const page = await fetch(`${url}/operator?done=hidden`)
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(await page.text()).toContain('The name is hidden.')
    const head = await fetch(`${url}/operator`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await fetch(`${url}/operator`, { method: 'PUT' })).status).toBe(405)
    expect((await fetch(`${url}/operator/other`)).status).toBe(404)
  })

  it('has no detail of a failure', async () => {
    const { url } = await serve({ readState: async () => Promise.reject(new Error('a secret')) })
    const page = await fetch(`${url}/operator`)
    expect(page.status).toBe(500)
    expect(await page.text()).not.toContain('secret')
  })
})
