// One data folder belongs to one site and to one process that writes it: what commands refuse
// beside a running server, with their exit codes.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, copyFile, mkdir, open, readdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { DEMO_MARKER } from '../server/demo/demo-library.ts'
import { streamersApiPath } from '../shared/paths.ts'
import { patienceMs } from './support/patience.ts'
import { PROGRAM, runInNewProcess, runInProcess } from './support/servers/run-program.ts'
import type { ProgramOutcome } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, fixturePath, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const runFile = promisify(execFile)

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('data-folders')
  await library.place('2026-01-31 20-15-07.mp4', SMALL_FIXTURE)
  server = await start()
})

async function start(): Promise<StartedServer> {
  return startServer({ args: [...library.args, '--layout', 'obs'] })
}

async function run(...args: string[]): Promise<ProgramOutcome> {
  const environment = { AFTERCAST_LOG_LEVEL: 'silent' }
  return runInProcess(args, { workingFolder: library.folder, environment })
}

/** One line on stderr that begins with `text`, and the exit code. */
function refusal(text: string, code = 2): ProgramOutcome {
  const escaped = text.replaceAll(/[()[\]{}.*+?^$|\\]/g, '\\$&')
  const line = new RegExp(`^aftercast: ${escaped}[^\n]*\n$`)
  return { code, stdout: '', stderr: expect.stringMatching(line) }
}

async function listServed(): Promise<unknown> {
  return (await fetch(server.url + streamersApiPath)).json()
}

const served = { streamers: [{ name: 'recordings', recording_count: 1 }] }

describe('the data folder of a running server', () => {
  it.each([['serve', '--port', '0'], ['scan']])('is refused to %s', async (command, ...flags) => {
    const outcome = await run(command, ...library.args, '--layout', 'obs', ...flags)
    expect(outcome).toEqual(refusal(`data: process ${server.pid} uses ${library.data}: `))
    expect(await listServed()).toEqual(served)
  })

  it('is only read by check, whatever the layout', async () => {
    const wrong = await run('check', ...library.args)
    expect(wrong).toMatchObject({ code: 1, stdout: '' })
    expect(wrong.stderr).toContain('layout `obs` would match 1')
    const right = await run('check', ...library.args, '--layout', 'obs')
    expect(right).toMatchObject({ code: 0, stderr: expect.stringContaining('1 playable session') })
    expect(await listServed()).toEqual(served)
  })

  it('keeps its library and layout where commands have others, once it is killed', async () => {
    await server.kill()
    await mkdir(path.join(library.folder, 'other'))
    const other = ['other', '--data', library.data, '--layout', 'obs']
    for (const command of ['scan', 'serve']) {
      expect(await run(command, ...library.args)).toEqual(
        refusal(`layout: the catalog in ${library.data} has another layout `),
      )
      expect(await run(command, ...other)).toEqual(
        refusal(`recordings: the catalog in ${library.data} is of ${library.recordings}: `),
      )
      expect(await run(command, '--data', library.data)).toEqual(
        refusal(`recordings: the catalog in ${library.data} is of ${library.recordings}: `),
      )
    }
    // The same recordings by another path.
    await symlink(library.folder, path.join(library.folder, 'also'))
    const same = ['also/recordings', '--data', library.data, '--layout', 'obs']
    expect(await run('scan', ...same)).toMatchObject({ code: 0 })
    server = await start()
    expect(await listServed()).toEqual(served)
  })
})

describe('a catalog of another library', () => {
  it('is rebuilt with --rebuild; hidden names stay hidden', async () => {
    const data = path.join(library.folder, 'rebuilt')
    const first = ['scan', library.recordings, '--data', data, '--layout', 'obs']
    expect(await run(...first)).toMatchObject({ code: 0 })
    expect(await run('hide', 'alice', '--data', data)).toMatchObject({ code: 0 })
    const other = path.join(library.folder, 'second')
    for (const name of ['alice', 'bob']) {
      await mkdir(path.join(other, name, '2026-01-31'), { recursive: true })
      await copyFile(fixturePath(SMALL_FIXTURE), path.join(other, name, '2026-01-31/1.mp4'))
    }
    const next = ['scan', other, '--data', data]
    expect(await run(...next)).toEqual(refusal(`recordings: the catalog in ${data} is of `))
    const stdout = '1 session of 1 streamer is indexed\n'
    expect(await run(...next, '--rebuild')).toMatchObject({ code: 0, stdout })
  })

  it('is rebuilt at once if it is the demo library', async () => {
    const data = path.join(library.folder, 'demo')
    const demo = path.join(data, 'demo-library')
    await mkdir(path.join(demo, 'alice', '2026-01-31'), { recursive: true })
    await writeFile(path.join(demo, DEMO_MARKER.name), DEMO_MARKER.version)
    await copyFile(fixturePath(SMALL_FIXTURE), path.join(demo, 'alice', '2026-01-31', '1.mp4'))
    expect(await run('scan', '--data', data)).toMatchObject({
      code: 0,
      stdout: '1 session of 1 streamer is indexed\n',
    })
    const own = ['scan', library.recordings, '--data', data, '--layout', 'obs']
    const stdout = '1 session of 1 streamer is indexed\n'
    expect(await run(...own)).toMatchObject({ code: 0, stdout })
  })
})

describe('a catalog without recordings', () => {
  it('takes the layout that a note has named', async () => {
    const data = path.join(library.folder, 'first')
    const scan = ['scan', library.recordings, '--data', data]
    const wrong = await run(...scan)
    expect(wrong).toMatchObject({ code: 0, stdout: '0 sessions of 0 streamers are indexed\n' })
    expect(wrong.stderr).toContain('layout `obs` would match 1')
    const outcome = await run(...scan, '--layout', 'obs')
    expect(outcome).toMatchObject({ code: 0, stdout: '1 session of 1 streamer is indexed\n' })
  })
})

describe('a data folder', () => {
  it('that does not respond ends with the second signal', async () => {
    const data = path.join(library.folder, 'hanging')
    await mkdir(data)
    const secret = path.join(data, 'hls-secret')
    await runFile('mkfifo', [secret])
    const args = [PROGRAM, 'scan', library.recordings, '--data', data]
    const program = spawn(process.execPath, args, { stdio: 'ignore' })
    const ended = once(program, 'exit')
    // Open once the program reads; then it waits for bytes.
    const flags = constants.O_WRONLY | constants.O_NONBLOCK
    const opening = { timeout: patienceMs, interval: 50 }
    const writer = await vi.waitFor(async () => open(secret, flags), opening)
    // Signals closer together count as one.
    const signals = setInterval(() => program.kill('SIGTERM'), 600)
    try {
      expect(await ended).toEqual([143, null])
    } finally {
      clearInterval(signals)
      await writer.close()
    }
  })

  it('whose catalog is none, or that cannot be reached, is reported in words', async () => {
    const data = path.join(library.folder, 'spoilt')
    await mkdir(data)
    const catalog = path.join(data, 'catalog.sqlite')
    await writeFile(catalog, 'x'.repeat(5000))
    const reason = `${catalog} cannot be opened: it is no database (SQLITE_NOTADB)`
    expect(await run('hide', 'alice', '--data', data)).toEqual(refusal(`data: ${reason}`, 1))
    const loop = path.join(library.folder, 'loop')
    await symlink(loop, loop)
    expect(await run('hide', 'alice', '--data', loop)).toEqual(refusal(`data: ${loop}: ELOOP`, 1))
  })

  it('inside the recordings is refused, also by another name of them', async () => {
    const linked = path.join(library.folder, 'linked')
    await symlink(library.recordings, linked)
    const before = await readdir(library.recordings)
    for (const [command, data] of [
      ['serve', library.recordings],
      ['scan', path.join(linked, 'a/b')],
    ] as const) {
      const outcome = await run(command, library.recordings, '--data', data)
      expect(outcome).toEqual(refusal(`data: ${data} is inside the recordings `))
    }
    expect(await readdir(library.recordings)).toEqual(before)
  })

  it.each(['serve', 'scan'])('that cannot be made ends %s', async (command) => {
    const outcome = await run(command, library.recordings, '--data', '/proc/x')
    expect(outcome).toEqual(refusal('data: /proc/x: there is no such file or folder (ENOENT); '))
  })

  it('that is a file is refused, with a remedy', async () => {
    const file = path.join(library.folder, 'file')
    await writeFile(file, '')
    const outcome = await run('scan', library.recordings, '--data', file)
    const reason = 'a file is where a folder must be (ENOTDIR)'
    expect(outcome).toEqual(refusal(`data: ${file}: ${reason}; name another folder with `, 1))
  })

  it('is not made by migrate', async () => {
    const outcome = await run('migrate', '--to', 'postgres://127.0.0.1:1/none', '--data', 'none')
    expect(outcome).toEqual(refusal(`data: ${path.join(library.folder, 'none')} has no catalog: `))
    expect(await readdir(library.folder)).not.toContain('none')
  })

  it('is not made by check, nor by scan for recordings that are not there', async () => {
    const args = [library.recordings, '--layout', 'obs', '--data', 'none']
    const environment = { AFTERCAST_ARTIFACTS: 'none' }
    const options = { workingFolder: library.folder, environment }
    expect(await runInNewProcess(['check', ...args], options)).toMatchObject({ code: 0 })
    expect(await run('check')).toEqual(refusal('recordings: none are configured: '))

    const outcome = await run('scan', '/nowhere/at/all', '--data', 'none')
    expect(outcome).toEqual(refusal('recordings: /nowhere/at/all: '))
    expect(await readdir(library.folder)).not.toContain('none')
  })
})

it('demo ends where its folder cannot be made', async () => {
  const outcome = await run('demo', '/proc/x/y')
  expect(outcome).toEqual(refusal('the demo library cannot be made: ENOENT: ', 1))
})

describe('the settings of an installed service', () => {
  it('are those of commands, unless they name another site', async () => {
    const serviceFolder = path.join(library.folder, 'etc')
    await mkdir(serviceFolder)
    const { recordings, data, folder: workingFolder } = library
    const lines = [`AFTERCAST_RECORDINGS=${recordings}`, `AFTERCAST_DATA=${data}`]
    await writeFile(path.join(serviceFolder, 'environment'), [...lines, ''].join('\n'))
    const settings = path.join(serviceFolder, 'aftercast.config.json')
    await writeFile(settings, '{ "layout": "obs" }')
    const command = async (args: string[], at = workingFolder): Promise<ProgramOutcome> =>
      runInProcess(args, { workingFolder: at, serviceFolder })

    for (const [args, at] of [
      [['check'], workingFolder],
      [['check', '--data', 'data'], workingFolder],
      [['check'], serviceFolder],
      [['check', '--config', settings], workingFolder],
    ] as const) {
      const { stderr } = await command([...args], at)
      expect(stderr, args.join(' ')).toContain('1 playable session')
    }
    const hidden = await command(['hide', 'recordings'])
    expect(hidden.stdout).toBe(`recordings is hidden in ${data}\n`)
    await command(['hide', '--undo'])
    expect(await command(['check', '--data', 'other'])).toEqual(refusal('recordings: none '))
    await mkdir(path.join(workingFolder, 'clone'))
    await writeFile(path.join(workingFolder, 'clone/aftercast.config.json'), '{}')
    const outcome = await command(['check'], path.join(workingFolder, 'clone'))
    expect(outcome).toEqual(refusal('recordings: none '))
  })
})
