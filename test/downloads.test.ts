// `page.download` through the program: the recording of a session as one file with byte ranges.
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { sessionResponse } from '../shared/contract.ts'
import { originalFilePath, sessionApiPath } from '../shared/paths.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { soon } from './support/patience.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import { runInProcess } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const FIXTURE = 'ts-h264-aac-clean-hls-concat.ts'
const DATE = '2026-01-31'
const LONE = 'Zo\u00eb 1#2'

let library: TempLibrary
let server: StartedServer
let bytes: Buffer

beforeAll(async () => {
  library = await createTempLibrary('downloads')
  bytes = await readFile(fixturePath(FIXTURE))
  await library.place(`alice/${DATE}/${LONE.normalize('NFD')}.ts`, FIXTURE)
  await library.place(`alice/${DATE}/parts/1.mp4`, SMALL_FIXTURE)
  await library.place(`alice/${DATE}/parts/2.mp4`, SMALL_FIXTURE)
  await library.place(`alice/${DATE}/folder/1.ts`, FIXTURE)
  await library.place(`alice/${DATE}/recorded/0.ts`, FIXTURE)
  const lines = ['#EXTM3U', '#EXT-X-TARGETDURATION:36', '#EXTINF:36,', '0.ts', '#EXT-X-ENDLIST', '']
  await library.place(`alice/${DATE}/recorded/playlist.m3u8`, Buffer.from(lines.join('\n')))
  await library.place(`alice/${DATE}/growing.ts`, FIXTURE, new Date())
  server = await start({ page: { download: true } })
})

async function start(settings: object): Promise<StartedServer> {
  // Longer than the test takes: nothing settles by itself.
  return startServer({
    args: library.args,
    settings: { ...settings, library: { settleSeconds: 86_400 } },
  })
}

const named = (sessionId: string) => ({ streamer: 'alice', date: DATE, sessionId })

/** The path of the file in the details of a session, once it is indexed. */
async function downloadOf(sessionId: string): Promise<string | undefined> {
  return vi.waitFor(async () => {
    const { body } = await rawRequest(server.url, sessionApiPath(named(sessionId)))
    const details = parseExactly(sessionResponse, JSON.parse(body.toString()))
    expect(details.durationSeconds).toBeDefined()
    return details.download?.url
  }, soon)
}

describe('page.download', () => {
  it('offers the bytes of a finished session of one recording, and ranges of them', async () => {
    const url = (await downloadOf(LONE)) ?? ''
    expect(url).toBe(originalFilePath(named(LONE), `${LONE}.ts`))
    const whole = await rawRequest(server.url, url)
    expect(whole.status).toBe(200)
    expect(whole.body.equals(bytes)).toBe(true)
    expect(whole.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'cache-control': 'no-cache',
      'surrogate-key': expect.stringMatching(/^session-\S+ streamer-\S+$/),
    })
    const etag = whole.headers.etag ?? ''
    const range = await rawRequest(server.url, url, {
      headers: { range: 'bytes=1000-1999', 'if-range': etag },
    })
    expect(range.status).toBe(206)
    expect(range.body.equals(bytes.subarray(1000, 2000))).toBe(true)
    const again = await rawRequest(server.url, url, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
  })

  it('offers the recording in a folder under the name of the session', async () => {
    const url = await downloadOf('folder')
    expect(url).toBe(originalFilePath(named('folder'), 'folder.ts'))
    expect((await rawRequest(server.url, url ?? '')).body.equals(bytes)).toBe(true)
  })

  it('offers nothing of a session that grows, or has several recordings or files', async () => {
    for (const id of ['growing', 'parts', 'recorded']) expect(await downloadOf(id)).toBeUndefined()
    for (const [id, file] of [
      ['growing', 'growing.ts'],
      ['parts', '1.mp4'],
      ['recorded', 'recorded'],
      [LONE, `${LONE}.mp4`],
    ] as const) {
      expect((await rawRequest(server.url, originalFilePath(named(id), file))).status).toBe(404)
    }
  })

  it('offers nothing of a hidden session', async () => {
    const hide = ['hide', `alice/${DATE}/${LONE}`, '--data', library.data]
    expect((await runInProcess(hide, { workingFolder: library.folder })).code).toBe(0)
    const url = originalFilePath(named(LONE), `${LONE}.ts`)
    const status = async () => (await rawRequest(server.url, url)).status
    await expect.poll(status, soon).toBe(410)
    await runInProcess(['unhide', ...hide.slice(1)], { workingFolder: library.folder })
  })

  it('is off by default', async () => {
    await server.stop()
    server = await start({})
    expect(await downloadOf(LONE)).toBeUndefined()
    const url = originalFilePath(named(LONE), `${LONE}.ts`)
    expect((await rawRequest(server.url, url)).status).toBe(404)
  })
})
