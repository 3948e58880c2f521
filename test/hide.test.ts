// `aftercast hide` with a running server: every URL of hidden content responds 410, and no file
// changes.
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { create } from 'tar'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { errorResponse } from '../shared/contract.ts'
import {
  aroundApiPath,
  activityApiPath,
  detailsApiPath,
  playerPagePath,
  playlistApiPath,
  sessionApiPath,
  sessionsApiPath,
  sessionsPagePath,
  streamersApiPath,
  streamerThumbnailApiPath,
  thumbnailApiPath,
} from '../shared/paths.ts'
import { makeLargeRecording } from './support/make/make-large-recording.ts'
import { settleSeconds } from './support/growing-file.ts'
import { soon } from './support/patience.ts'
import { fetchPlaylist } from './support/servers/hls-client.ts'
import { parseExactly } from './support/parse-exactly.ts'
import { runInProcess } from './support/servers/run-program.ts'
import type { ProgramOutcome } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { checksumTree } from './support/tree-checksum.ts'

const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }

/** Its playlist lists segments while it grows. */
const GROWING_FIXTURE = 'ts-h264-aac-clean-hls-concat.ts'

/** More than that has a sampled identity. */
const SAMPLED_BYTES = 20 * 1024 * 1024

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('hide')
  await library.place('alice/2026-01-31/1.mp4', SMALL_FIXTURE)
  await library.place('alice/2026-01-31/2.mp4', SMALL_FIXTURE)
  await library.place('bob/2026-01-31/1.mp4', SMALL_FIXTURE)
  server = await startServer({
    args: library.args,
    settings: { library: { settleSeconds } },
    environment: { AFTERCAST_WORKERS: '2' },
  })
})

async function run(...args: string[]): Promise<ProgramOutcome> {
  return runInProcess([...args, '--data', library.data], { workingFolder: library.folder })
}

async function restore(archive: string, data: string): Promise<ProgramOutcome> {
  const workingFolder = library.folder
  return runInProcess(['restore', archive, '--data', data], { workingFolder })
}

async function statusOf(target: string): Promise<number> {
  return (await fetch(new URL(target, server.url))).status
}

async function textOf(target: string): Promise<string> {
  return (await fetch(server.url + target)).text()
}

/** File names of the segments in a playlist. */
function namesOf(playlist: string): string[] {
  return playlist.match(/[^/]+\.ts$/gm) ?? []
}

/** The same MPEG-TS with other pictures: after its start, the last bytes of packets differ. */
function changePayloads(recording: Buffer): Buffer {
  const packetBytes = 188
  for (let end = 600 * packetBytes; end <= recording.length; end += packetBytes) {
    const startsUnit = ((recording[end - packetBytes + 1] ?? 0) & 0x40) !== 0
    if (!startsUnit) recording[end - 1] = 0xab
  }
  return recording
}

/** Every URL of a session on the site. */
async function addressesOfSession(): Promise<string[]> {
  const { segments } = await fetchPlaylist(server.url + playlistApiPath(session))
  const [segment] = segments
  const of = [playlistApiPath(session), thumbnailApiPath(session), playerPagePath(session)]
  return [
    ...of,
    sessionApiPath(session),
    aroundApiPath(session),
    segment?.url ?? '',
    segment?.initUrl ?? '',
    segment?.key?.url ?? '',
  ]
}

describe('a hidden session', () => {
  it('responds 410 at every URL, and is in no list', async () => {
    const before = await checksumTree(library.recordings)
    const addresses = await addressesOfSession()
    for (const address of addresses)
      await expect.poll(async () => statusOf(address), { message: address }).toBe(200)
    const { stdout, stderr } = await run('hide', 'alice/2026-01-31/1')
    expect([stdout, stderr]).toEqual([`alice/2026-01-31/1 is hidden in ${library.data}\n`, ''])
    for (const address of addresses) {
      await expect.poll(async () => statusOf(address)).toBe(410)
    }
    expect(await textOf(streamersApiPath)).toContain('{"name":"alice","recording_count":1}')
    for (const target of [sessionsApiPath('alice'), detailsApiPath('alice')])
      expect(await textOf(target)).not.toContain('"sessionId":"1"')
    await expect.poll(async () => textOf('/sitemap.xml')).not.toContain(playerPagePath(session))
    expect(await textOf('/sitemap.xml')).toContain(playerPagePath({ ...session, sessionId: '2' }))
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
      detailsApiPath('bob'),
      sessionApiPath(bob),
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
    await expect.poll(async () => textOf('/sitemap.xml')).not.toContain('bob')
    expect(await statusOf(playlistApiPath({ ...bob, date: '2026-02-01', sessionId: '2' }))).toBe(
      410,
    )
  })

  it('is listed by name, and an unknown one is hidden with a note', async () => {
    const { stdout, stderr } = await run('hide', 'dora')
    expect(stdout).toBe(`dora is hidden in ${library.data}\n`)
    expect(stderr).toMatch(/^note: dora is not in .* when it appears; .* --data\n$/)
    expect((await run('hide', '--list')).stdout).toBe('bob\ndora\n')
  })
})

describe('old sessions', () => {
  const today = new Date().toISOString().slice(0, 10)

  it('are hidden by their dates, and printed; others stay', async () => {
    for (const name of [`erin/${today}/1`, 'erin/2026-01-31/1', 'erin/2026-01-31/2'])
      await library.place(`${name}.mp4`, SMALL_FIXTURE)
    await expect.poll(async () => textOf(streamersApiPath)).toContain('"erin","recording_count":3')
    await run('hide', 'erin/2026-01-31/2', '--reason', 'by request')

    const aged = await run('hide', 'erin', '--older-than', '1d')
    expect(aged).toEqual({
      code: 0,
      stdout: `erin/2026-01-31/1 is hidden\n1 session is hidden in ${library.data}\n`,
      stderr: '',
    })
    await expect.poll(async () => textOf(streamersApiPath)).toContain('"erin","recording_count":1')
    expect(await statusOf(playlistApiPath({ ...session, streamer: 'erin' }))).toBe(410)
    const again = await run('hide', 'erin', '--older-than', '1d')
    expect(again.stdout).toBe(`0 sessions are hidden in ${library.data}\n`)
    const misspelt = await run('hide', 'erinn', '--older-than', '1d')
    expect(misspelt.stderr).toContain(`erinn is not in ${library.data}; did you mean erin?`)
  })

  it('of all streamers are hidden', async () => {
    // Also those of a hidden streamer, who may return.
    const names = ['alice/2026-01-31/1', 'alice/2026-01-31/2', 'bob/2026-01-31/1']
    names.push('bob/2026-02-01/2', 'carol/2026-02-01/1')
    const linesOf = (outcome: string): string =>
      names.map((name) => `${name} ${outcome}\n`).join('')
    const older = ['hide', '--older-than', '1w', '--reason', 'retention']
    const planned = await run(...older, '--dry-run')
    const total = `5 sessions would be hidden in ${library.data}\n`
    expect(planned).toEqual({ code: 0, stdout: linesOf('would be hidden') + total, stderr: '' })
    const { stdout } = await run(...older)
    expect(stdout).toBe(linesOf('is hidden') + `5 sessions are hidden in ${library.data}\n`)
    await expect.poll(async () => textOf(streamersApiPath)).not.toContain('alice')
    expect(await textOf(streamersApiPath)).toContain(`"erin","recording_count":1`)
  })

  it('are in the log, with all other changes', async () => {
    await run('unhide', 'bob', '--reason', 'settled\u001b[31m')
    const { stdout } = await run('hide', '--log')
    const lines = stdout.trimEnd().split('\n')
    for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /)
    expect(lines.map((line) => line.slice(21))).toEqual([
      'hide alice/2026-01-31/1',
      'unhide alice/2026-01-31/1',
      'hide bob',
      'hide dora',
      'hide erin/2026-01-31/2 (by request)',
      'hide erin/2026-01-31/1',
      'hide alice/2026-01-31/1 (retention)',
      'hide alice/2026-01-31/2 (retention)',
      'hide bob/2026-01-31/1 (retention)',
      'hide bob/2026-02-01/2 (retention)',
      'hide carol/2026-02-01/1 (retention)',
      expect.stringMatching(/^unhide bob \(settled[ -~]*\)$/),
    ])
  })
})

describe('one run', () => {
  it('is undone, and then the one before', async () => {
    const sites = `in ${library.data}\n`
    const undone = await run('hide', '--undo')
    expect(undone.stdout.split('\n').slice(0, 2)).toEqual([
      'alice/2026-01-31/1 is visible again',
      'alice/2026-01-31/2 is visible again',
    ])
    expect(undone.stdout).toContain(`5 names are visible again ${sites}`)
    const before = await run('hide', '--undo', '--reason', 'too much')
    expect(before.stdout).toBe(
      `erin/2026-01-31/1 is visible again\n1 name is visible again ${sites}`,
    )
    expect((await run('hide', '--log')).stdout).toMatch(/unhide erin\S+ \(too much\)\n$/)
  })
})

describe('names', () => {
  it('may be URLs of pages, below any path, with blanks around', async () => {
    const url = ` https://streams.example/tv${playerPagePath({ ...session, sessionId: '2' })}?t=5 `
    expect((await run('hide', url)).stdout).toMatch(/^alice\/2026-01-31\/2 is hidden in /)
    const list = `https://streams.example${sessionsPagePath('carol')}/`
    expect((await run('hide', list)).stdout).toMatch(/^carol is hidden in /)
    for (const name of ['alice/2026-01-31/2', 'carol']) {
      expect((await run('unhide', ` ${name} `)).stdout).toContain('visible again')
    }
    expect(await run('hide', 'https://streams.example/about')).toMatchObject({ code: 2 })
  })

  it('that are unknown suggest similar ones', async () => {
    for (const [name, near] of [
      ['alcie', 'alice'],
      ['Bob', 'bob'],
      ['alice/2026-01-31/12', 'alice/2026-01-31/1 or alice/2026-01-31/2'],
    ] as const) {
      expect((await run('hide', name)).stderr).toMatch(new RegExp(`did you mean ${near}\\?\n$`))
      await run('unhide', name)
    }
    expect((await run('unhide', 'dore')).stdout).toMatch(/not hidden in .*; did you mean dora\?\n$/)
  })
})

it.each([
  ['hide', 'alice'],
  ['hide', '--list'],
  ['hide', '--undo'],
  ['unhide', 'alice'],
  ['stats'],
  ['backup', 'a.tar'],
])('%s %s refuses a folder without a catalog, and makes none', async (...args) => {
  const nowhere = path.join(library.folder, 'nowhere')
  const { code, stdout, stderr } = await runInProcess([...args, '--data', nowhere], {
    workingFolder: library.folder,
  })
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^aftercast: data: \S+nowhere has no catalog: [^\n]+\n$/)
  expect(await readdir(library.folder)).not.toContain('nowhere')
})

describe('a backup', () => {
  it('restores hidden names, counters, addresses of segments and house ads', async () => {
    await run('unhide', 'alice/2026-01-31/1')
    await expect.poll(async () => statusOf(playlistApiPath(session))).toBe(200)
    const before = await textOf(playlistApiPath(session))
    await fetch(server.url + activityApiPath, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ name: 'begin_video', ...session }]),
    })
    const stats = async (): Promise<string> => (await run('stats', '--json')).stdout
    await expect.poll(stats).toContain('"plays": 1')
    const ad = path.join('house-ads', 'tea.svg')
    await mkdir(path.join(library.data, 'house-ads'))
    await writeFile(path.join(library.data, ad), '<svg/>')
    const archive = path.join(library.folder, 'backup.tar')
    expect(await run('backup', archive)).toMatchObject({ code: 0, stderr: '' })
    expect((await stat(archive)).mode & 0o777).toBe(0o600)
    const again = await run('backup', archive)
    expect(again).toMatchObject({ code: 1, stdout: '' })
    expect(again.stderr).toBe(
      `aftercast: the backup ${archive}: something else has this name (EEXIST)\n`,
    )
    expect((await readdir(library.folder)).filter((name) => name.startsWith('.'))).toEqual([])

    const data = path.join(library.folder, 'restored')
    expect(await restore(archive, data)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`catalog.sqlite of ${archive} are in ${data}\n`),
      stderr: '',
    })
    expect((await readdir(data)).toSorted()).toEqual([
      'analytics.sqlite',
      'catalog.sqlite',
      'hls-secret',
      'house-ads',
      'lock.sqlite',
    ])
    expect(await readFile(path.join(data, ad), 'utf8')).toBe('<svg/>')
    const restored = await startServer({ args: [library.recordings, '--data', data] })
    const text = async (target: string): Promise<string> =>
      (await fetch(restored.url + target)).text()
    expect(await text(playlistApiPath(session))).toBe(before)
    await expect.poll(async () => text(streamersApiPath)).toBe(await textOf(streamersApiPath))
    const args = ['stats', '--json', '--data', data]
    const counted = await runInProcess(args, { workingFolder: library.folder })
    expect(counted.stdout).toBe(await stats())
  })

  it('restores which bytes a URL names, so that changed ones get another', async () => {
    const large = { ...session, sessionId: 'large' }
    const growing = { ...session, sessionId: 'growing' }
    const replaced = { ...session, sessionId: 'replaced' }
    const bytes = makeLargeRecording(SAMPLED_BYTES)
    await library.place('alice/2026-01-31/large.ts', bytes)
    await library.place('alice/2026-01-31/growing.ts', GROWING_FIXTURE, new Date())
    await library.place('alice/2026-01-31/replaced.ts', GROWING_FIXTURE, new Date())
    const listed = async ({ url }: StartedServer, of: typeof session) =>
      vi.waitFor(async () => (await fetchPlaylist(url + playlistApiPath(of))).text, soon)
    const before = await listed(server, large)
    const growingBefore = await listed(server, growing)
    const replacedBefore = await listed(server, replaced)
    expect(growingBefore).not.toContain('#EXT-X-ENDLIST')
    const archive = path.join(library.folder, 'records.tar')
    expect(await run('backup', archive)).toMatchObject({ code: 0, stderr: '' })
    const data = path.join(library.folder, 'with-records')
    expect(await restore(archive, data)).toMatchObject({ code: 0 })
    // Between two samples: index and identity are equal.
    bytes.fill(7, 100_000, 100_008)
    await library.place('alice/2026-01-31/large.ts', bytes)
    const other = changePayloads(await readFile(fixturePath(GROWING_FIXTURE)))
    await library.place('alice/2026-01-31/replaced.ts', other, new Date())
    const restored = await startServer({
      args: [library.recordings, '--data', data],
      settings: { library: { settleSeconds } },
    })
    expect((await listed(restored, growing)).split('\n')).toEqual(
      expect.arrayContaining(growingBefore.split('\n').filter((line) => line.endsWith('.ts'))),
    )
    const after = await listed(restored, large)
    expect(namesOf(after)).toEqual(namesOf(before))
    expect(after).not.toBe(before)
    const replacedAfter = await listed(restored, replaced)
    expect(namesOf(replacedAfter)).toEqual(namesOf(replacedBefore))
    const urls = (text: string) => text.split('\n').filter((line) => line.endsWith('.ts'))
    expect(urls(replacedAfter)).not.toEqual(
      expect.arrayContaining(urls(replacedBefore).slice(0, 1)),
    )
  })

  it('is restored only into an empty folder, and only as it was written', async () => {
    const archive = path.join(library.folder, 'whole.tar')
    expect(await run('backup', archive)).toMatchObject({ code: 0 })
    const used = path.join(library.folder, 'used')
    await mkdir(used)
    await writeFile(path.join(used, 'notes.txt'), '')
    expect(await restore(archive, used)).toEqual({
      code: 2,
      stdout: '',
      stderr: `aftercast: data: ${used} is not empty: name an empty or new folder with --data\n`,
    })
    expect((await readdir(used)).toSorted()).toEqual(['lock.sqlite', 'notes.txt'])

    const bytes = await readFile(archive)
    const damaged = Buffer.from(bytes)
    const secondPage = bytes.indexOf('SQLite format 3') + 4096
    damaged.fill(0x55, secondPage, secondPage + 4096)
    const source = path.join(library.folder, 'source')
    await mkdir(source)
    await writeFile(path.join(source, 'catalog.sqlite'), 'x'.repeat(5000))
    await writeFile(path.join(source, 'other'), '')
    await symlink('/etc/passwd', path.join(source, 'hls-secret'))
    const tar = async (...names: string[]): Promise<Buffer> => {
      const file = path.join(library.folder, 'other.tar')
      await create({ file, cwd: source }, names)
      return readFile(file)
    }
    for (const [content, reason] of [
      [bytes.subarray(0, bytes.length / 2), 'Truncated input'],
      [Buffer.from('no archive'), 'Unrecognized archive format'],
      [damaged, 'catalog.sqlite'],
      [await tar('catalog.sqlite'), 'catalog.sqlite'],
      [await tar('catalog.sqlite', 'other'), 'other is not part of one'],
      [await tar('catalog.sqlite', 'hls-secret'), 'hls-secret is not part of one'],
    ] as const) {
      const file = path.join(library.folder, 'strange.tar')
      await writeFile(file, content)
      const data = path.join(library.folder, 'unrestored')
      const { code, stdout, stderr } = await restore(file, data)
      expect([code, stdout, stderr.split('\n')]).toEqual([1, '', [expect.any(String), '']])
      expect(stderr).toContain(reason)
      expect(await readdir(data)).toEqual(['lock.sqlite'])
    }
  })

  it('needs a data folder with a catalog, and no cluster', async () => {
    const target = path.join(library.folder, 'other.tar')
    const inFolder = { workingFolder: library.folder }
    const none = await runInProcess(['backup', target, '--data', library.folder], inFolder)
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('has no catalog') })
    const environment = { AFTERCAST_DATABASE_URL: 'postgres://a:b@127.0.0.1:1/x' }
    const cluster = await runInProcess(['backup', target], { ...inFolder, environment })
    expect(cluster).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^aftercast: database: /),
    })
  })
})
