// The complete server on a data folder that cannot be written: the disk is full, or broken. It
// serves on, and catches up when the disk works again.
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import {
  activityApiPath,
  playlistApiPath,
  sessionsApiPath,
  streamersApiPath,
  thumbnailApiPath,
} from '../shared/paths.ts'
import type { SessionReference } from '../shared/paths.ts'
import { findProgram } from '../scripts/programs.mjs'
import { createFailingWrites } from './support/servers/failing-writes.ts'
import type { FailingWrites } from './support/servers/failing-writes.ts'
import { fetchPlaylist, fetchSegment } from './support/servers/hls-client.ts'
import { makeLargeRecording } from './support/make/make-large-recording.ts'
import { makeLongTs } from './support/make/make-long-ts.ts'
import { soon } from './support/patience.ts'
import { runInNewProcess, runInProcess } from './support/servers/run-program.ts'
import { childrenOf, startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, makeSmallRecording, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

/** Files above 16 MiB have a sampled identity, which is recorded when it is first served. */
const SAMPLED_BYTES = 20 * 1024 * 1024
const SETTLE_SECONDS = 3600

const CODES = ['ENOSPC', 'EIO'] as const
/** Every place in the data folder that the server writes to while it runs. */
const CACHES = ['.index', '/indexes/served/', '/indexes/grown/', '/thumbnails/']

const statsOutput = z.object({
  sessions: z.array(z.object({ sessionId: z.string(), plays: z.number() })),
})

let library: TempLibrary
let disk: FailingWrites
let server: StartedServer
let growing: string
let views = 0

beforeAll(async () => {
  library = await createTempLibrary('failing-writes')
  disk = createFailingWrites(library.folder)
  growing = path.join(library.folder, 'growing.ts')
  await makeLongTs(growing, 30)
  await library.place('alice/2026-01-31/before.mp4', SMALL_FIXTURE)
  server = await serve()
})

afterAll(() => disk.close())

async function serve(workers = '1', data = library.data): Promise<StartedServer> {
  return startServer({
    args: [library.recordings, '--data', data],
    settings: { library: { settleSeconds: SETTLE_SECONDS } },
    environment: { ...disk.environment, AFTERCAST_WORKERS: workers },
  })
}

function session(sessionId: string): SessionReference {
  return { streamer: 'alice', date: '2026-01-31', sessionId }
}

async function statusOf(target: string, of = server): Promise<number> {
  const response = await fetch(of.url + target).catch(() => undefined)
  if (response === undefined) return NaN
  await response.arrayBuffer()
  return response.status
}

/** The session plays: its playlist, its first segment, and its thumbnail if it has video. */
async function expectPlayable(sessionId: string, of = server): Promise<void> {
  const { segments } = await fetchPlaylist(of.url + playlistApiPath(session(sessionId)))
  const [first] = segments
  if (first === undefined) throw new Error(`${sessionId} has no segments`)
  expect((await fetchSegment(first)).length).toBeGreaterThan(0)
}

async function expectSiteServed(): Promise<void> {
  for (const target of ['/', streamersApiPath, sessionsApiPath('alice')])
    expect(await statusOf(target)).toBe(200)
  await expectPlayable('before')
  expect(await statusOf(thumbnailApiPath(session('before')))).toBe(200)
}

async function countView(): Promise<void> {
  const event = { name: 'begin_video', ...session('before') }
  const body = JSON.stringify([event])
  const { status } = await fetch(server.url + activityApiPath, { method: 'POST', body })
  expect(status).toBe(204)
  views += 1
}

/** Three new recordings, so that each kind of file in the data folder is written. */
async function record(run: string): Promise<string[]> {
  await library.place(`alice/2026-01-31/${run}-small.mp4`, makeSmallRecording(run))
  await library.place(`alice/2026-01-31/${run}-large.ts`, makeLargeRecording(SAMPLED_BYTES))
  await library.place(`alice/2026-01-31/${run}-growing.ts`, await readFile(growing), new Date())
  return ['small', 'large', 'growing'].map((kind) => `${run}-${kind}`)
}

async function expectRecorded(sessionIds: readonly string[]): Promise<void> {
  for (const sessionId of sessionIds) await vi.waitFor(() => expectPlayable(sessionId), soon)
  const thumbnail = thumbnailApiPath(session(sessionIds[0] ?? ''))
  await expect.poll(() => statusOf(thumbnail), soon).toBe(200)
}

async function countedPlays(): Promise<number> {
  const args = ['stats', '--json', '--days', '2', '--data', library.data]
  const { stdout } = await runInProcess(args, { workingFolder: library.folder })
  const { sessions } = statsOutput.parse(JSON.parse(stdout))
  return sessions.find(({ sessionId }) => sessionId === 'before')?.plays ?? 0
}

describe.skipIf(findProgram('a C compiler') === undefined).each(CODES)(
  'a disk that fails with %s',
  (code) => {
    it.each(CACHES)('serves new recordings while %s cannot be written', async (part) => {
      disk.fail(code, part)
      await expectRecorded(await record(`${code}-${part.replaceAll(/\W/g, '')}`))
      await expectSiteServed()
      expect(disk.heal()).toBeGreaterThan(0)
    })

    it('lists new recordings once the catalog can be written again', async () => {
      disk.fail(code, '/catalog.sqlite')
      const sessionIds = await record(`${code}-catalog`)
      await expect.poll(() => disk.failures(), soon).toBeGreaterThan(0)
      await expectSiteServed()
      expect(disk.heal()).toBeGreaterThan(0)
      await expectRecorded(sessionIds)
    })

    it('counts views once the counters can be written again', async () => {
      disk.fail(code, '/analytics.sqlite')
      await countView()
      await expect.poll(() => disk.failures(), soon).toBeGreaterThan(0)
      await countView()
      await expectSiteServed()
      expect(disk.heal()).toBeGreaterThan(0)
      await expect.poll(countedPlays, soon).toBe(views)
    })

    it('replaces killed workers', async () => {
      const data = path.join(library.folder, `several-${code}`)
      const several = await serve('2', data)
      try {
        disk.fail(code, data)
        const before = childrenOf(several.pid)
        for (const worker of before) process.kill(worker, 'SIGKILL')
        const isNew = (pid: number): boolean => !before.includes(pid)
        await expect.poll(() => childrenOf(several.pid).filter(isNew), soon).toHaveLength(2)
        await expect.poll(() => statusOf(streamersApiPath, several), soon).toBe(200)
        await expectPlayable('before', several)
      } finally {
        disk.heal()
        await several.stop()
      }
    })

    it('starts a new server while the scripts of its page cannot be stored', async () => {
      disk.fail(code, '/page-assets/')
      const started = await startServer({
        args: [library.recordings, '--data', path.join(library.folder, `no-assets-${code}`)],
        environment: disk.environment,
      })
      expect(disk.heal()).toBeGreaterThan(0)
      await expect.poll(() => statusOf('/', started), soon).toBe(200)
      expect(started.output()).toContain('scripts of the page could not be stored')
    })

    it('ends a new server with one line', async () => {
      const data = path.join(library.folder, `new-${code}`)
      await mkdir(data)
      disk.fail(code, data)
      const args = ['serve', library.recordings, '--data', data, '--port', '0']
      const ended = await runInNewProcess(args, {
        workingFolder: library.folder,
        environment: disk.environment,
      })
      disk.heal()
      expect(ended).toMatchObject({ code: 1, stdout: '' })
      const line = new RegExp(`^aftercast: data: ${data}: .* \\(${code}\\); .*\n$`)
      expect(ended.stderr).toMatch(line)
    })
  },
)
