// The commands of the program: their output, and the exit codes that scripts rely on.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { PROGRAM, runInNewProcess, runInProcess } from './support/servers/run-program.ts'
import type { ProgramOutcome } from './support/servers/run-program.ts'
import { BROKEN_FIXTURE, createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'

const execute = promisify(execFile)
let library: TempLibrary

beforeAll(async () => {
  library = await createTempLibrary('commands')
  await library.place('alice/2026-01-31/1001.mp4', SMALL_FIXTURE)
  await library.place('alice/2026-01-31/1002.ts', 'ts-h264-pts-wrap-33bit.ts')
  await library.place('bob/2026-02-01/1.mp4', SMALL_FIXTURE)
})

async function run(args: string[], environment: NodeJS.ProcessEnv = {}): Promise<ProgramOutcome> {
  return runInProcess(args, { workingFolder: library.folder, environment })
}

/** A library with unplayable and unserved recordings, and one that is playable. */
async function flawedLibrary(): Promise<TempLibrary> {
  const flawed = await createTempLibrary('flawed')
  await flawed.place('alice/2026-01-31/1001.mp4', SMALL_FIXTURE)
  await flawed.place('alice/2026-01-31/1001.ts', 'ts-h264-pts-wrap-33bit.ts')
  await flawed.place('alice/2026-01-31/broken.mp4', BROKEN_FIXTURE)
  await flawed.place('alice/2026-01-31/empty.ts', new Uint8Array())
  await flawed.place('alice/2026-01-31/text.mp4', Buffer.from('#EXTM3U\n/etc/passwd\n'.repeat(400)))
  await flawed.place('alice/2026-01-31/notes.txt', Buffer.from('not a recording'))
  await flawed.place('alice/2026-01-31/.hidden.mp4', BROKEN_FIXTURE)
  return flawed
}

describe('scan', () => {
  it('indexes once, prints the totals and exits with 0', async () => {
    const { code, stdout } = await run(['scan', ...library.args])
    expect(code).toBe(0)
    expect(stdout).toBe('3 sessions of 2 streamers are indexed\n')
    expect(await readdir(library.data)).toContain('catalog.sqlite')
  })

  it('exits with 0 if nothing is new', async () => {
    expect((await run(['scan', ...library.args])).code).toBe(0)
  })

  it('reads the recordings folder from the environment too', async () => {
    const { code, stdout } = await run(['scan'], {
      AFTERCAST_RECORDINGS: library.recordings,
      AFTERCAST_DATA: library.data,
    })
    expect([code, stdout]).toEqual([0, '3 sessions of 2 streamers are indexed\n'])
  })
})

describe('layouts', () => {
  it.each([
    ['{streamer}/{date}_{sessionId}', 'alice/20260131_one.mp4', 'alice/20260131.mp4'],
    ['{streamer}/*-{date}-{sessionId}', 'alice/live-2026-01-31-one.mp4', 'alice/one.mp4'],
    ['{date}/{streamer}_{sessionId}', '2026-01-31/alice_one.mp4', 'alice/2026-01-31_one.mp4'],
  ])('%s: finds matching paths, and nothing else', async (layout, fits, other) => {
    const laid = await createTempLibrary('layout')
    await laid.place(fits, SMALL_FIXTURE)
    await laid.place(other, SMALL_FIXTURE)
    const { stdout } = await run(['scan', ...laid.args], { AFTERCAST_LAYOUT: layout })
    expect(stdout).toBe('1 session of 1 streamer is indexed\n')
  })
})

describe('named layouts', () => {
  it.each([
    ['obs', '2026-01-31 20-15-07.mp4', 'recordings'],
    ['streamlink', 'alice/Art/41-2026-01-31_20-15-07.mp4', 'alice'],
    ['yt-dlp', 'alice/Show [v1].mp4.part', 'alice'],
    ['mediamtx', 'recordings/alice/2026-01-31_20-15-07-123456.mp4', 'alice'],
  ])('--layout %s finds %s', async (layout, file, streamer) => {
    const laid = await createTempLibrary('preset')
    await laid.place(file, SMALL_FIXTURE)
    const { stdout } = await run(['scan', ...laid.args, '--layout', layout])
    expect(stdout).toBe('1 session of 1 streamer is indexed\n')
    expect((await run(['hide', streamer, '--data', laid.data])).stderr).toBe('')
  })

  it('exits with 2 and lists the names for an unknown one', async () => {
    const { code, stderr } = await run(['scan', ...library.args, '--layout', 'obss'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^aftercast: layout: [^\n]*obs, streamlink, [^\n]*\n$/)
  })
})

describe('recordings that match no session', () => {
  it('are counted, with the layout that would find them', async () => {
    const laid = await createTempLibrary('unmatched')
    for (const day of [1, 2]) await laid.place(`alice/2026-01-0${day} 20-15-07.mp4`, SMALL_FIXTURE)
    await laid.place('2026-01-31 20-15-07.mp4', SMALL_FIXTURE)
    const note =
      'note: 3 recordings match no session, e.g. 2026-01-31 20-15-07.mp4; layout `obs` would match 3\n'
    expect(await run(['scan', ...laid.args])).toEqual({
      code: 0,
      stdout: '0 sessions of 0 streamers are indexed\n',
      stderr: note,
    })
    expect(await run(['check', ...laid.args])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(note),
    })
    const data = path.join(laid.folder, 'fixed')
    expect(await run(['scan', laid.recordings, '--data', data, '--layout', 'obs'])).toEqual({
      code: 0,
      stdout: '3 sessions of 2 streamers are indexed\n',
      stderr: '',
    })
  })
})

describe('check', () => {
  it('exits with 0 if every recording is playable', async () => {
    const { code, stdout } = await run(['check', ...library.args])
    expect([code, stdout]).toEqual([0, ''])
  })

  it('lists each unplayable recording with its reason, and exits with 1', async () => {
    const flawed = await flawedLibrary()
    const { code, stdout } = await run(['check', ...flawed.args])
    expect(code).toBe(1)
    const [head, ...rows] = stdout.trimEnd().split('\n')
    expect(head).toMatch(/^outcome +byte +time +recording/)
    const found = rows.filter((row) => !row.includes('→'))
    const names = ['1001.ts', 'broken.mp4', 'empty.ts', 'text.mp4']
    expect(found.map((row) => /alice\S+(?=: \S{2,})/.exec(row)?.[0])).toEqual(
      names.map((name) => `alice/2026-01-31/${name}`),
    )
    expect(found[0]).toMatch(/^duplicate .*1001\.mp4/)
    expect(found[1]).toMatch(/^unplayable +\d+ /)
    expect(rows.filter((row) => /^ +→ .{10}/.test(row))).toHaveLength(names.length)
  })

  it('prints the report as one JSON document', async () => {
    const flawed = await flawedLibrary()
    const { code, stdout } = await run(['check', ...flawed.args, '--json'])
    expect(code).toBe(1)
    const report: unknown = JSON.parse(stdout)
    expect(report).toMatchObject({
      playableSessions: 1,
      recordings: [
        {
          path: 'alice/2026-01-31/1001.ts',
          outcome: 'duplicate',
          problems: [{ code: 'duplicate', servedPath: 'alice/2026-01-31/1001.mp4' }],
        },
        {
          path: 'alice/2026-01-31/broken.mp4',
          streamer: 'alice',
          date: '2026-01-31',
          sessionId: 'broken',
          outcome: 'unplayable',
          problems: [
            {
              code: 'box-invalid',
              box: 'free',
              offsetBytes: 32,
              defect: 'smaller-than-header',
              message: expect.stringContaining('byte 32'),
            },
          ],
        },
        {
          problems: [
            {
              code: 'file-empty',
              message: 'the file is empty',
              advice: expect.any(String),
            },
          ],
        },
        { outcome: 'unplayable', problems: [{ code: 'container-unknown' }] },
      ],
    })
  })

  it('lists the limitations of a playable session, and exits with 0', async () => {
    const limited = await createTempLibrary('limited')
    await limited.place('alice/2026-02-01/late-night/part1.ts', 'ts-h264-pts-wrap-33bit.ts')
    await limited.place('alice/2026-02-01/late-night/part2.mp4', BROKEN_FIXTURE)
    const { code, stdout } = await run(['check', ...limited.args, '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      playableSessions: 1,
      recordings: [
        {
          path: 'alice/2026-02-01/late-night',
          outcome: 'limited',
          problems: [
            {
              code: 'part-unplayable',
              part: 'part2.mp4',
              cause: { code: 'box-invalid', box: 'free' },
              message: expect.stringMatching(/^part2\.mp4: /),
              offsetBytes: 32,
              seconds: expect.closeTo(20, 0),
              advice: expect.any(String),
            },
          ],
        },
      ],
    })
    const table = (await run(['check', ...limited.args])).stdout
    expect(table).toMatch(/^limited +\d* +0:00:20 {2}alice\/2026-02-01\/late-night: part2\.mp4: /m)
  })

  it('counts playable sessions that not every browser plays', async () => {
    const rare = await createTempLibrary('rare')
    await rare.place('alice/2026-02-01/a.mp4', 'mp4-hevc-hvc1-aac.mp4')
    await rare.place('alice/2026-02-01/b.ts', 'ts-hevc-aac51.ts')
    await rare.place('alice/2026-02-01/c.mp4', 'mp4-av1-10bit-aac-portrait.mp4')
    const { code, stdout, stderr } = await run(['check', ...rare.args, '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toHaveProperty('missingDecoders', [
      { needs: 'HEVC', sessions: 2 },
      { needs: 'AV1', sessions: 1 },
      { needs: '10 bit', sessions: 1 },
    ])
    expect(stderr).toContain('2 playable sessions in HEVC, which not every browser plays\n')
  })

  it('checks a growing recording as it is now', async () => {
    const growing = await createTempLibrary('growing')
    await growing.place('alice/2026-01-31/1.mp4', BROKEN_FIXTURE, new Date())
    expect((await run(['check', ...growing.args])).code).toBe(1)
  })

  it('may run in a folder that its user may not use', async () => {
    const mayWriteNothing = ['--permission', '--allow-fs-read=*', '--allow-addons']
    const flags = [...mayWriteNothing, '--allow-worker', '--allow-child-process', '--no-warnings']
    const args = [...flags, PROGRAM, 'check', ...library.args]
    const { stderr } = await execute(process.execPath, args, { cwd: library.folder })
    expect(stderr).toBe(
      '3 playable sessions, 0 of them with limitations; 0 unplayable recordings\n',
    )
  })
})

describe('demo', () => {
  it('rejects a folder that is not empty, with 2', async () => {
    const before = await readdir(library.recordings)
    const { code, stderr } = await run(['demo', library.recordings])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^aftercast: .*not empty.*\n$/)
    expect(await readdir(library.recordings)).toEqual(before)
  })

  it('needs a folder', async () => {
    expect((await run(['demo'])).code).toBe(2)
  })
})

describe('help', () => {
  it.each([
    [['--help'], 'serve'],
    [['serve', '--help'], '--port'],
    [['scan', '--help'], 'DIR'],
    [['check', '--help'], 'Exits with 1'],
    [['demo', '--help'], 'DIR'],
  ])('%j: is printed, and the exit code is 0', async (args, word) => {
    const { code, stdout, stderr } = await run(args)
    expect(code).toBe(0)
    expect(stdout).toContain('Usage: aftercast')
    expect(stdout).toContain(word)
    expect(stderr).toBe('')
  })
})

describe('invalid arguments and configuration exit with 2 and one line', () => {
  it.each([
    [['serve', '--prot', '80'], '--prot'],
    [['nonsense'], 'nonsense'],
    [['serve', '--port', '99999'], 'server.port'],
    [['serve', '--port', 'http'], 'server.port'],
    [['serve', '/nowhere/at/all'], 'recordings'],
    [['scan', '/nowhere/at/all'], 'recordings'],
    [['scan', 's3://bucket/prefix'], 'recordings'],
    [['serve', '--config', 'none.json'], 'none.json'],
    [['scan', 'a', 'b'], 'argument'],
  ])('%j', async (args, named) => {
    const { code, stdout, stderr } = await run(args)
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^aftercast: [^\n]+\n$/)
    expect(stderr).toContain(named)
  })

  it.each([
    ['{ "server": { "prot": 1 } }', 'server.prot'],
    ['{ "hls": { "encryption": "rot13" } }', 'hls.encryption'],
    ['{ "hls": { "segmentSeconds": "six" } }', 'hls.segmentSeconds'],
    ['{ "layout": "no placeholders" }', 'layout'],
    ['{ "database": "mysql://a/b" }', 'database'],
    ['{ not json', 'config.json'],
  ])('%s', async (text, named) => {
    const file = path.join(library.folder, 'config.json')
    await writeFile(file, text)
    const { code, stderr } = await run(['scan', library.recordings, '--config', file])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^aftercast: [^\n]+\n$/)
    expect(stderr).toContain(named)
  })

  it.each([
    ['PORT', 'eighty', 'server.port'],
    ['AFTERCAST_WORKERS', '0', 'server.workers'],
    ['AFTERCAST_CORS_ORIGINS', 'not an origin', 'server.corsOrigins'],
    ['AFTERCAST_TRUST_PROXY', '10.0.0.0/33', 'server.trustProxy'],
  ])('%s=%s', async (name, value, named) => {
    const { code, stderr } = await run(['scan', ...library.args], { [name]: value })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^aftercast: [^\n]+\n$/)
    expect(stderr).toContain(named)
  })
})

describe('settings without an effect', () => {
  it('are warned about in one line each, and the command runs', async () => {
    const { code, stderr } = await run(['scan', ...library.args], {
      AFTERCAST_LAYUOT: 'obs',
      AFTERCAST_OPERATOR_TOKEN: 'sixteen characters or more',
    })
    expect(code).toBe(0)
    expect(stderr).toBe(
      'aftercast: warning: AFTERCAST_LAYUOT: unknown variable (did you mean AFTERCAST_LAYOUT?)\n' +
        'aftercast: warning: server.operatorToken: has no effect without server.metrics, the listener of /operator\n',
    )
  })
})

describe('work', () => {
  it.each([
    [{}, 'database: '],
    [
      { AFTERCAST_DATABASE_URL: 'postgres://u@127.0.0.1:9/x', AFTERCAST_CLUSTER_JOBS: 'false' },
      'cluster.jobs: ',
    ],
  ])('with %o has nothing to do', async (environment, named) => {
    const { code, stderr } = await run(['work', ...library.args], environment)
    expect(code).toBe(2)
    expect(stderr).toMatch(new RegExp(`^aftercast: ${named}[^\n]+\n$`))
  })
})

describe('serve', () => {
  it.each(['1', '2'])(
    'with %s workers exits with 1 and one line if the port is in use',
    async (workers) => {
      const taken = createServer().listen(0, '127.0.0.1')
      await once(taken, 'listening')
      const address = taken.address()
      const port = typeof address === 'object' ? address?.port : undefined
      const { code, stdout, stderr } = await runInNewProcess(
        ['serve', ...library.args, '--port', String(port)],
        { workingFolder: library.folder, environment: { AFTERCAST_WORKERS: workers } },
      )
      taken.close()
      expect(code).toBe(1)
      expect(stdout).toBe('')
      expect(stderr).toMatch(/^aftercast: [^\n]+\n$/)
      expect(stderr).toContain(`127.0.0.1:${port}`)
    },
  )

  it('exits with 1 and one line if the data folder is unusable', async () => {
    const file = path.join(library.folder, 'a-file')
    await writeFile(file, '')
    const { code, stderr } = await run(['serve', library.recordings, '--port', '0', '--data', file])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^aftercast: [^\n]+\n$/)
  })
})
