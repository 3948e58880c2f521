// `aftercast hide` with a running server: every URL of hidden content responds 410, and no file
// changes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorResponse } from '../shared/contract.ts'
import {
  activityApiPath,
  playerPagePath,
  playlistApiPath,
  sessionsApiPath,
  sessionsPagePath,
  streamersApiPath,
  streamerThumbnailApiPath,
  thumbnailApiPath,
} from '../shared/paths.ts'
import { fetchPlaylist } from './support/servers/hls-client.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { runInProcess } from './support/servers/run-program.ts'
import type { ProgramOutcome } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { checksumTree } from './support/tree-checksum.ts'

const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('hide')
  await library.place('alice/2026-01-31/1.mp4', SMALL_FIXTURE)
  await library.place('alice/2026-01-31/2.mp4', SMALL_FIXTURE)
  await library.place('bob/2026-01-31/1.mp4', SMALL_FIXTURE)
  server = await startServer({
    args: library.args,
    environment: { AFTERCAST_WORKERS: '2' },
  })
})

afterAll(async () => {
  await server.stop()
  await library.remove()
})

async function run(...args: string[]): Promise<ProgramOutcome> {
  return runInProcess([...args, '--data', library.data], { workingFolder: library.folder })
}

async function statusOf(target: string): Promise<number> {
  return (await fetch(new URL(target, server.url))).status
}

async function textOf(target: string): Promise<string> {
  return (await fetch(server.url + target)).text()
}

/** Every URL of a session on the site. */
async function addressesOfSession(): Promise<string[]> {
  const { segments } = await fetchPlaylist(server.url + playlistApiPath(session))
  const [segment] = segments
  const of = [playlistApiPath(session), thumbnailApiPath(session), playerPagePath(session)]
  return [...of, segment?.url ?? '', segment?.initUrl ?? '', segment?.key?.url ?? '']
}

describe('a hidden session', () => {
  it('responds 410 at every URL, and is in no list', async () => {
    const before = await checksumTree(library.recordings)
    const addresses = await addressesOfSession()
    for (const address of addresses) expect(await statusOf(address), address).toBe(200)
    const { stdout, stderr } = await run('hide', 'alice/2026-01-31/1')
    expect([stdout, stderr]).toEqual(['alice/2026-01-31/1 is hidden\n', ''])
    for (const address of addresses) {
      await expect.poll(async () => statusOf(address)).toBe(410)
    }
    expect(await textOf(streamersApiPath)).toContain('{"name":"alice","recording_count":1}')
    expect(await textOf(sessionsApiPath('alice'))).not.toContain('"sessionId":"1"')
    const sitemap = await textOf('/sitemap.xml')
    expect(sitemap).not.toContain(playerPagePath(session))
    expect(sitemap).toContain(playerPagePath({ ...session, sessionId: '2' }))
    expect(await checksumTree(library.recordings)).toEqual(before)
  })

  it('is no longer counted for open pages, and does not affect other counts', async () => {
    const events = [{ name: 'begin_video', ...session }]
    const answer = await fetch(server.url + activityApiPath, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(events),
    })
    expect(answer.ok).toBe(true)
  })

  it('is reported as gone: by the API as JSON, by the page as HTML', async () => {
    const api = await fetch(server.url + playlistApiPath(session))
    expect(parseExactly(errorResponse, await api.json()).error.code).toBe('gone')
    expect(api.headers.get('cache-control')).toBe('no-store')
    const page = await fetch(server.url + playerPagePath(session))
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(await page.text()).toContain('id="root"')
  })

  it('returns after unhide', async () => {
    expect((await run('unhide', 'alice/2026-01-31/1')).stdout).toContain('is visible again')
    for (const address of await addressesOfSession()) expect(await statusOf(address)).toBe(200)
    expect((await run('unhide', 'alice/2026-01-31/1')).stdout).toContain('was not hidden')
  })
})

describe('a hidden streamer', () => {
  it('responds 410 at every URL, and for later sessions', async () => {
    await run('hide', 'bob')
    const bob = { ...session, streamer: 'bob' }
    const addresses = [
      sessionsApiPath('bob'),
      sessionsPagePath('bob'),
      streamerThumbnailApiPath('bob'),
      playlistApiPath(bob),
      thumbnailApiPath(bob),
      playerPagePath(bob),
    ]
    for (const address of addresses) {
      await expect.poll(async () => statusOf(address)).toBe(410)
    }
    await library.place('bob/2026-02-01/2.mp4', SMALL_FIXTURE)
    await library.place('carol/2026-02-01/1.mp4', SMALL_FIXTURE)
    await expect.poll(async () => textOf(streamersApiPath)).toContain('carol')
    expect(await textOf(streamersApiPath)).not.toContain('bob')
    expect(await textOf('/sitemap.xml')).not.toContain('bob')
    expect(await statusOf(playlistApiPath({ ...bob, date: '2026-02-01', sessionId: '2' }))).toBe(
      410,
    )
  })

  it('is listed by name, and an unknown one is hidden with a note', async () => {
    const { stdout, stderr } = await run('hide', 'dora')
    expect(stdout).toBe('dora is hidden\n')
    expect(stderr).toMatch(/^note: dora is not in .*\n$/)
    expect((await run('hide', '--list')).stdout).toBe('bob\ndora\n')
  })
})
