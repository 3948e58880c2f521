import { describe, expect, it } from 'vitest'
import { runCommandLine } from './cli.ts'
import { AppError } from '../base/errors.ts'

/** Runs the command line with actions that record their calls, and returns everything visible. */
async function runWith(args: string[], exitCode = 0) {
  const seen = { asked: [] as [string, ...unknown[]][], stdout: '', stderr: '' }
  const noting =
    (name: string) =>
    async (...given: unknown[]) => {
      seen.asked.push([name, ...given])
      return exitCode
    }
  const code = await runCommandLine(args, {
    actions: {
      serve: noting('serve'),
      work: noting('work'),
      scan: noting('scan'),
      check: noting('check'),
      hide: noting('hide'),
      hideOlder: noting('hideOlder'),
      undoHide: noting('undoHide'),
      printHideLog: noting('printHideLog'),
      unhide: noting('unhide'),
      listHidden: noting('listHidden'),
      demo: noting('demo'),
      stats: noting('stats'),
      migrate: noting('migrate'),
      backup: noting('backup'),
      restore: noting('restore'),
      doctor: noting('doctor'),
    },
    output: {
      stdout: (text) => (seen.stdout += text),
      stderr: (text) => (seen.stderr += text),
    },
    version: '1.2.3',
  })
  return { ...seen, code }
}

describe('runCommandLine', () => {
  it('hands folder and options to serve by configuration key', async () => {
    const args = ['serve', 'videos', '--port', '0', '--host', '::1', '--data', 'd', '--config', 'c']
    expect((await runWith(args)).asked).toEqual([
      [
        'serve',
        {
          flags: { recordings: 'videos', data: 'd', 'server.host': '::1', 'server.port': '0' },
          configFile: 'c',
          mayRebuild: false,
        },
      ],
    ])
  })

  it('accepts a folder whose name starts with a dash after --', async () => {
    const { asked } = await runWith(['scan', '--rebuild', '--', '-videos'])
    const input = { flags: { recordings: '-videos' }, mayRebuild: true }
    expect(asked).toMatchObject([['scan', input]])
  })

  it('hands the folder to demo', async () => {
    expect((await runWith(['demo', 'here'])).asked).toEqual([['demo', 'here']])
  })

  it.each([
    [['stats'], { days: 30, format: 'tables' }],
    [['stats', '--days', '7', '--json'], { days: 7, format: 'json' }],
  ])('passes range and format to stats: %j', async (args, options) => {
    const { asked } = await runWith([...args, '--data', 'd'])
    expect(asked).toEqual([['stats', { flags: { data: 'd' } }, options]])
  })

  it.each([
    [['check'], { format: 'table' }],
    [['check', '--json'], { format: 'json' }],
  ])('passes the format to check: %j', async (args, options) => {
    expect((await runWith(args)).asked).toEqual([['check', { flags: {} }, options]])
  })

  it.each([['serve'], ['work'], ['scan'], ['check']])('hands the layout to %s', async (command) => {
    const { asked } = await runWith([command, '--layout', 'obs'])
    expect(asked[0]).toMatchObject({ 0: command, 1: { flags: { layout: 'obs' } } })
  })

  it.each([
    [['hide', 'alice'], 'hide', { kind: 'streamer', streamer: 'alice' }],
    [
      ['unhide', 'alice/2026-01-31/late night'],
      'unhide',
      { kind: 'session', streamer: 'alice', date: '2026-01-31', sessionId: 'late night' },
    ],
    [['hide', '--chat-user', 'Bob'], 'hide', { kind: 'chat-user', user: 'bob' }],
    [
      ['unhide', 'alice', '--chat-user', 'Bob'],
      'unhide',
      { kind: 'chat-user', user: 'bob', streamer: 'alice' },
    ],
  ])('hands the name to %j', async (args, action, name) => {
    const { asked } = await runWith([...args, '--data', 'd'])
    expect(asked).toEqual([[action, { flags: { data: 'd' } }, { name, reason: '' }]])
  })

  it.each([
    [
      ['hide', '--list'],
      ['listHidden', { flags: {} }],
    ],
    [
      ['hide', '--undo'],
      ['undoHide', { flags: {} }, { reason: '' }],
    ],
    [
      ['hide', '--log'],
      ['printHideLog', { flags: {} }],
    ],
    [
      ['hide', '--older-than', '30d'],
      ['hideOlder', { flags: {} }, { days: 30, streamer: undefined, reason: '', isDryRun: false }],
    ],
    [
      ['hide', 'alice', '--older-than', '8w', '--reason', 'retention', '--dry-run'],
      [
        'hideOlder',
        { flags: {} },
        { days: 56, streamer: 'alice', reason: 'retention', isDryRun: true },
      ],
    ],
    [
      ['unhide', 'alice', '--reason', 'a mistake'],
      [
        'unhide',
        { flags: {} },
        { name: { kind: 'streamer', streamer: 'alice' }, reason: 'a mistake' },
      ],
    ],
    [
      ['backup', 'a.tar'],
      ['backup', { flags: {} }, 'a.tar'],
    ],
    [
      ['restore', 'a.tar'],
      ['restore', { flags: {} }, 'a.tar'],
    ],
    [
      ['doctor', '/srv/recordings'],
      ['doctor', { flags: { recordings: '/srv/recordings' } }],
    ],
  ])('hands %j on', async (args, asked) => {
    expect((await runWith(args)).asked).toEqual([asked])
  })

  it('answers the exit code of the command', async () => {
    expect((await runWith(['check'], 1)).code).toBe(1)
    expect((await runWith(['check'], 0)).code).toBe(0)
  })

  it('lets what a command throws through', async () => {
    const actions = {
      serve: async () => 0,
      work: async () => 0,
      scan: async () => 0,
      check: async () => Promise.reject(new AppError('failed', 'the disk is gone')),
      hide: async () => 0,
      hideOlder: async () => 0,
      undoHide: async () => 0,
      printHideLog: async () => 0,
      unhide: async () => 0,
      listHidden: async () => 0,
      demo: async () => 0,
      stats: async () => 0,
      migrate: async () => 0,
      backup: async () => 0,
      restore: async () => 0,
      doctor: async () => 0,
    }
    const output = { stdout: () => undefined, stderr: () => undefined }
    await expect(runCommandLine(['check'], { actions, output, version: '1' })).rejects.toThrow(
      'the disk is gone',
    )
  })

  it.each([
    ['serve'],
    ['work'],
    ['scan'],
    ['check'],
    ['hide'],
    ['unhide'],
    ['demo'],
    ['stats'],
    ['migrate'],
    ['backup'],
    ['restore'],
    ['doctor'],
  ])('prints help of %s', async (command) => {
    const { code, stdout, asked } = await runWith([command, '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain(`Usage: aftercast ${command}`)
    expect(asked).toEqual([])
  })

  it('hands the database to migrate, and refuses what is none', async () => {
    const to = 'postgres://user:pass@db.example/aftercast'
    expect((await runWith(['migrate', '--to', to])).asked).toEqual([
      ['migrate', { flags: {}, configFile: undefined }, to],
    ])
    const refused = await runWith(['migrate', '--to', 'mysql://user:secret@db.example/x'])
    expect(refused.code).toBe(2)
    expect((await runWith(['migrate'])).code).toBe(2)
  })

  it('prints the version', async () => {
    expect(await runWith(['--version'])).toMatchObject({ code: 0, stdout: '1.2.3\n' })
  })

  it.each([
    [['fly'], "aftercast: unknown command 'fly'\n"],
    [['srve'], "aftercast: unknown command 'srve' (did you mean serve?)\n"],
    [['serve', '--prot', '1'], "aftercast: unknown option '--prot' (did you mean --port?)\n"],
    [['serve', '--wings'], "aftercast: unknown option '--wings'\n"],
    [['scan', '--port', '1'], "aftercast: unknown option '--port'\n"],
    [['serve', '--port'], "aftercast: option '--port <number>' argument missing\n"],
    [
      ['stats', '--days', '0'],
      "aftercast: option '--days <number>' argument '0' is invalid. It must be a whole number from 1 to 800.\n",
    ],
    ...[
      [],
      ['a', '--list'],
      ['--list', '--log'],
      ['a/b/c', '--older-than', '1d'],
      ['a/b/c', '--chat-user', 'bob'],
      ['--chat-user', 'bob', '--older-than', '1d'],
      ['a/b/c', '--chat-user', 'bob', '--older-than', '1d'],
      ['a', '--dry-run'],
      ['a', '--undo'],
    ].map((rest): [string[], string] => [
      ['hide', ...rest],
      'aftercast: expected STREAMER[/DATE/ID], --chat-user NAME [STREAMER], --older-than AGE [STREAMER] [--dry-run], --undo, --list or --log\n',
    ]),
    ...['0d', '30', '-1d', '9999999d', '40000d', '1y'].map((age): [string[], string] => [
      ['hide', `--older-than=${age}`],
      `aftercast: option '--older-than <AGE>' argument '${age}' is invalid. It must be a number of days or weeks, such as 30d or 8w.\n`,
    ]),
    [
      ['hide', 'a', '--reason', 'x'.repeat(501)],
      `aftercast: option '--reason <TEXT>' argument '${'x'.repeat(501)}' is invalid. It must have at most 500 characters.\n`,
    ],
    [['backup'], "aftercast: missing required argument 'FILE'\n"],
    [
      ['hide', '--chat-user', ' '],
      "aftercast: option '--chat-user <NAME>' argument ' ' is invalid. It must be a name as the chat shows it.\n",
    ],
    [
      ['unhide', 'a/b/c', '--chat-user', 'bob'],
      'aftercast: expected STREAMER[/DATE/ID], --chat-user NAME [STREAMER]\n',
    ],
    [
      ['unhide', 'a/b'],
      "aftercast: command-argument value 'a/b' is invalid for argument 'STREAMER[/DATE/ID]'. It must be STREAMER[/DATE/ID].\n",
    ],
    [['demo'], "aftercast: missing required argument 'DIR'\n"],
  ])('answers 2 and one line for %j', async (args, line) => {
    expect(await runWith(args)).toMatchObject({ code: 2, stderr: line, stdout: '', asked: [] })
  })

  it('answers 2 and the help where no command is named', async () => {
    const { code, stderr } = await runWith([])
    expect(code).toBe(2)
    expect(stderr).toContain('Usage: aftercast')
  })
})
