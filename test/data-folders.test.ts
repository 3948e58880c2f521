// One data folder belongs to one site and to one process that writes it: what commands refuse
// beside a running server, with their exit codes.
import { readdir, symlink } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { streamersApiPath } from '../shared/paths.ts'
import { runInNewProcess } from './support/servers/run-program.ts'
import type { ProgramOutcome } from './support/servers/run-program.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

let library: TempLibrary
let server: StartedServer

beforeAll(async () => {
  library = await createTempLibrary('data-folders')
  await library.place('2026-01-31 20-15-07.mp4', SMALL_FIXTURE)
  server = await startServer({ args: [...library.args, '--layout', 'obs'] })
})

afterAll(async () => {
  await server.stop()
  await library.remove()
})

async function run(...args: string[]): Promise<ProgramOutcome> {
  return runInNewProcess(args, { workingFolder: library.folder })
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

  it('is free again once the server is killed', async () => {
    await server.kill()
    server = await startServer({ args: [...library.args, '--layout', 'obs'] })
    expect(await listServed()).toEqual(served)
  })
})

describe('a data folder', () => {
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
    expect(outcome).toEqual(refusal("data: ENOENT: no such file or directory, mkdir '/proc/x': "))
  })

  it('is not made for recordings that are not there', async () => {
    const outcome = await run('scan', '/nowhere/at/all', '--data', 'none')
    expect(outcome).toEqual(refusal('recordings: /nowhere/at/all: '))
    expect(await readdir(library.folder)).not.toContain('none')
  })
})

it('demo ends where its folder cannot be made', async () => {
  const outcome = await run('demo', '/proc/x/y')
  expect(outcome).toEqual(refusal('the demo library cannot be made: ENOENT: ', 1))
})
