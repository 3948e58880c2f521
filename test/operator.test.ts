// The operator's page of a running server: on the private listener, and nowhere else.
import { once } from 'node:events'
import { get } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { streamersApiPath } from '../shared/paths.ts'
import { findFreePort } from './support/servers/free-port.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { BROKEN_FIXTURE, createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import { soon } from './support/patience.ts'
import type { TempLibrary } from './support/temp-library.ts'

const TOKEN = 'sixteen characters or more'
const HOSTILE = '<img src=x onerror=alert(1)>'

let library: TempLibrary
let server: StartedServer
let listener: string

beforeAll(async () => {
  library = await createTempLibrary('operator')
  await library.place('alice/2026-01-31/1.mp4', SMALL_FIXTURE)
  await library.place('alice/2026-01-31/1.m4v', SMALL_FIXTURE)
  await library.place('bob/2026-01-31/1.mp4', SMALL_FIXTURE)
  await library.place('bob/2026-01-30/2.mkv', 'mkv-h264-two-audio-subs-truncated.mkv')
  await library.place(`carol/2026-01-31/${HOSTILE}.mp4`, BROKEN_FIXTURE)
  await library.place('dave/2026-01-31 20-15-07.mp4', SMALL_FIXTURE)
  const address = `127.0.0.1:${await findFreePort()}`
  listener = `http://${address}`
  server = await startServer({
    args: library.args,
    environment: {
      AFTERCAST_WORKERS: '2',
      AFTERCAST_METRICS: address,
      AFTERCAST_METRICS_HOSTS: 'metrics.example,aftercast',
      AFTERCAST_OPERATOR_TOKEN: TOKEN,
    },
  })
})

async function page(): Promise<string> {
  const response = await fetch(`${listener}/operator`)
  expect(response.status).toBe(200)
  return response.text()
}

async function change(
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams(fields)
  return fetch(`${listener}/operator/hidden`, { method: 'POST', headers, body })
}

async function streamers(): Promise<string> {
  return (await fetch(server.url + streamersApiPath)).text()
}

/** A request as a browser sends it that resolved `name` to this machine. */
async function statusFor(name: string, path: string): Promise<number | undefined> {
  const headers = { host: `${name}:${new URL(listener).port}` }
  const [response] = await once(get(listener + path, { headers }), 'response')
  response.resume()
  return response.statusCode
}

describe("the operator's page", () => {
  it('counts recordings without a session, and names the layout that finds them', async () => {
    const note =
      '1 recording matches no session, e.g. dave/2026-01-31 20-15-07.mp4; layout `obs` would match 1'
    expect(await page()).toContain(note)
    expect(server.output()).toContain(`"msg":${JSON.stringify(note)}`)
  })

  it('is only for names that are configured', async () => {
    for (const path of ['/operator', '/metrics', '/other'])
      expect(await statusFor('attacker.example', path), path).toBe(421)
    for (const name of ['127.0.0.1', '10.0.0.1', 'localhost', 'metrics.example'])
      expect(await statusFor(name, '/operator'), name).toBe(200)
  })

  it('lists what is not fully playable, with reasons and without markup of names', async () => {
    // The scan may still run; the reasons of partly playable ones are read from their indexes.
    await expect.poll(page).toContain('truncated: the file ends in the middle of')
    await expect.poll(page).toContain('smaller than its own header')
    const text = await page()
    expect(text).toContain('carol/2026-01-31/&lt;img src=x onerror=alert(1)&gt;.mp4')
    expect(text).not.toContain('<img')
    expect(text).toContain('is served for the same session')
    expect(text).toMatch(/\d of \d[\d.]* \w+ \(\d+ %\)|GiB of|TiB of/)
    expect(text).not.toContain('could not be read')
  })

  it('hides and shows a name with the token', async () => {
    const hidden = await change({ action: 'hide', name: 'bob', reason: HOSTILE, token: TOKEN })
    expect(hidden.url).toBe(`${listener}/operator?done=hidden`)
    const text = await hidden.text()
    expect(text).toContain('The name is hidden.')
    expect(text).toContain('value="bob"')
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;</bdi></div>')
    await expect.poll(streamers).not.toContain('bob')
    const shown = await change({ action: 'unhide', listed: 'bob', token: TOKEN })
    expect(await shown.text()).toContain('visible again')
    await expect.poll(streamers).toContain('bob')
  })

  it('changes nothing without the token, or for another site; limits wrong tokens', async () => {
    const form = { action: 'hide', name: 'alice' }
    const foreign = { origin: 'http://evil.example' }
    expect((await change({ ...form, token: TOKEN }, foreign)).status).toBe(403)
    expect((await change(form)).status).toBe(400)
    const wrong = { ...form, token: 'x'.repeat(16) }
    expect((await change(wrong)).status).toBe(403)
    await expect.poll(async () => (await change(wrong)).status).toBe(429)
    expect((await change({ ...form, token: TOKEN })).status).toBe(429)
    expect(await streamers()).toContain('alice')
    expect(await page()).not.toContain('value="alice"')
    expect(server.output()).not.toContain(TOKEN)
  })

  it('is not on the public listener', async () => {
    expect((await fetch(`${server.url}/operator`)).status).toBe(404)
    const body = new URLSearchParams({ action: 'hide', name: 'alice', token: TOKEN })
    const posted = await fetch(`${server.url}/operator/hidden`, { method: 'POST', body })
    expect(posted.status).toBeGreaterThanOrEqual(400)
    expect(await streamers()).toContain('alice')
  })
})

describe('without sessions', () => {
  it.each([
    ['no recordings found', undefined],
    ['no recording', BROKEN_FIXTURE],
  ])(
    'reports "%s below" the folder and what to do, in the log and on the page',
    async (problem, file) => {
      const empty = await createTempLibrary('operator-empty')
      if (file !== undefined) await empty.place('alice/2026-01-31/0.mp4', file)
      const address = `127.0.0.1:${await findFreePort()}`
      const started = await startServer({
        args: empty.args,
        environment: { AFTERCAST_METRICS: address },
      })
      const advice = `${problem} below ${empty.recordings}`
      await expect.poll(() => started.output().split(advice), soon).toHaveLength(2)
      const shown = async (): Promise<string> => (await fetch(`http://${address}/operator`)).text()
      expect(await shown()).toContain(advice)
      await empty.place('alice/2026-01-31/1.mp4', SMALL_FIXTURE)
      await expect.poll(shown, soon).not.toContain(advice)
    },
  )
})
