// /api/around through the program: starts of sidecars, of a recorder's playlist and of names.
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { aroundResponse } from '../shared/around-response.ts'
import type { AroundResponse } from '../shared/around-response.ts'
import { sessionResponse } from '../shared/contract.ts'
import { aroundApiPath, sessionApiPath } from '../shared/paths.ts'
import type { SessionReference } from '../shared/paths.ts'
import { makeLongTs } from './support/make/make-long-ts.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { soon } from './support/patience.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import { runInProcess } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const MINUTES = 3
const START_MS = Date.UTC(2026, 0, 31, 20, 15)

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('around')
  const made = `${library.folder}/made.ts`
  await makeLongTs(made, MINUTES * 60)
  const video = await readFile(made)
  const info = (startMs: number) =>
    Buffer.from(JSON.stringify({ title: 'Finals', timestamp: startMs / 1000 }))
  await library.place('alice/2026-01-31/1.ts', video)
  await library.place('alice/2026-01-31/1.info.json', info(START_MS))
  await library.place('alice/2026-01-31/again_20260131T201500Z.ts', video)
  await library.place('bob/2026-01-31/2.ts', video)
  await library.place('bob/2026-01-31/2.info.json', info(START_MS + 30_500))
  await library.place('carol/2026-01-31/20260131T201600Z.ts', video)
  await library.place('dave/2026-01-31/3/0.ts', video)
  const playlist = [
    '#EXTM3U',
    '#EXT-X-TARGETDURATION:180',
    '#EXTINF:180,',
    '0.ts',
    '#EXT-X-ENDLIST',
  ]
  playlist.splice(2, 0, '#EXT-X-PROGRAM-DATE-TIME:2026-01-31T21:14:00+01:00')
  await library.place('dave/2026-01-31/3/index.m3u8', Buffer.from(`${playlist.join('\n')}\n`))
  await library.place('erin/2026-01-31/nothing.ts', video)
  await library.place('frank/2026-01-31/20260131T201801Z.ts', video)
  server = await startServer({ args: library.args })
})

const reference = (streamer: string, sessionId: string): SessionReference => {
  return { streamer, date: '2026-01-31', sessionId }
}
const alice = reference('alice', '1')

async function around(session: SessionReference): Promise<AroundResponse['sessions']> {
  const response = await fetch(server.url + aroundApiPath(session))
  return parseExactly(aroundResponse, await response.json()).sessions
}

const streamersAround = async (session: SessionReference): Promise<string[]> =>
  (await around(session)).map(({ streamer }) => streamer)

describe('/api/around', () => {
  it('has other sessions of the same minutes, longest overlap first', async () => {
    await expect.poll(() => streamersAround(alice), soon).toEqual(['bob', 'carol', 'dave'])
    const durationSeconds = expect.closeTo(MINUTES * 60, 0)
    expect(await around(alice)).toEqual([
      { ...reference('bob', '2'), title: 'Finals', offsetSeconds: 30.5, durationSeconds },
      { ...reference('carol', '20260131T201600Z'), offsetSeconds: 60, durationSeconds },
      { ...reference('dave', '3'), offsetSeconds: -60, durationSeconds },
    ])
    const back = (await around(reference('dave', '3'))).filter(
      ({ streamer }) => streamer === 'alice',
    )
    expect(back.map(({ offsetSeconds }) => offsetSeconds)).toEqual([60, 60])
  })

  it('is named by the details of a session with a start', async () => {
    const details = async (session: SessionReference) => {
      const response = await fetch(server.url + sessionApiPath(session))
      return parseExactly(sessionResponse, await response.json())
    }
    const { around: named, startTimeFrom } = await details(reference('dave', '3'))
    expect(named).toEqual({ url: aroundApiPath(reference('dave', '3')) })
    expect(startTimeFrom).toBe('playlist')
    expect((await details(alice)).startTimeFrom).toBe('metadata')
    expect((await details(reference('carol', '20260131T201600Z'))).startTimeFrom).toBe('path')
    expect(await details(reference('erin', 'nothing'))).not.toHaveProperty('around')
    expect(await around(reference('erin', 'nothing'))).toEqual([])
  })

  it('can be revalidated, and never has a hidden session', async () => {
    const first = await rawRequest(server.url, aroundApiPath(alice))
    expect(first.headers['cache-control']).toBe('no-cache')
    const headers = { 'if-none-match': String(first.headers.etag) }
    expect((await rawRequest(server.url, aroundApiPath(alice), { headers })).status).toBe(304)
    const hide = async (name: string) =>
      runInProcess(['hide', name, '--data', library.data], { workingFolder: library.folder })
    expect((await hide('carol')).code).toBe(0)
    expect((await hide('bob/2026-01-31/2')).code).toBe(0)
    await expect.poll(() => streamersAround(alice), soon).toEqual(['dave'])
    expect((await fetch(server.url + aroundApiPath(reference('bob', '2')))).status).toBe(410)
  })
})
