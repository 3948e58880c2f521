// The command line: commands, options and help. The caller passes the actions.
import { Command, CommanderError } from 'commander'
import type { NameToHide } from '../../shared/name-to-hide.ts'
import { defaultConfigName } from '../base/config/read-config-file.ts'
import type { CommandActions } from './commands/actions.ts'
import {
  NAME_FORM,
  parseAge,
  parseChatUser,
  parseDatabaseUrl,
  parseDays,
  parseName,
  parseReason,
} from './cli-values.ts'
import type { CommandInput, HideChange } from './cli-values.ts'

/** Output streams; each call writes complete lines. */
export interface CommandOutput {
  stdout: (text: string) => void
  stderr: (text: string) => void
}

/** Dependencies of a run. */
export interface CommandLine {
  actions: CommandActions
  output: CommandOutput
  version: string
}

/**
 * Runs the command that the arguments name (without program names) and returns its exit code.
 * Unusable arguments print one line on stderr and return 2. Errors of actions propagate.
 */
export async function runCommandLine(
  args: readonly string[],
  { actions, output, version }: CommandLine,
): Promise<number> {
  let exitCode = 0
  const program = createProgram({ version, output, conclude: (code) => (exitCode = code), actions })
  try {
    await program.parseAsync([...args], { from: 'user' })
    return exitCode
  } catch (error) {
    // Commander has already printed its line. Requested help is not a failure.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    throw error
  }
}

interface ProgramOptions extends CommandLine {
  conclude: (exitCode: number) => void
}

function createProgram({ actions, conclude, output, version }: ProgramOptions): Command {
  const program = new Command('aftercast')
    .description('A public web viewer for recorded live-stream sessions.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.stdout(text),
      writeErr: (text) => output.stderr(text),
      outputError: (text, write) => write(formatError(text)),
    })
  for (const name of ['serve', 'work', 'scan'] as const) {
    const command = FILLING[name](program)
    command.action(async (folder: string | undefined, { rebuild = false, ...options }: FillFlags) =>
      conclude(await actions[name]({ ...inputOf(folder, options), mayRebuild: rebuild })),
    )
  }
  addCheck(program).action(async (folder: string | undefined, { json, ...options }: CheckFlags) =>
    conclude(await actions.check(inputOf(folder, options), { format: json ? 'json' : 'table' })),
  )
  addHide(program).action(async (name: NameToHide | undefined, flags: HideFlags, of: Command) =>
    conclude(await runHide(actions, { name, flags, command: of })),
  )
  addUnhide(program).action(async (name: NameToHide | undefined, flags: HideFlags, of: Command) => {
    const { reason = '', chatUser, ...options } = flags
    const hidden = nameToHide(name, chatUser) ?? of.error(UNHIDE_USAGE, { exitCode: 2 })
    conclude(await actions.unhide(inputOf(undefined, options), { name: hidden, reason }))
  })
  addDemo(program).action(async (folder: string) => conclude(await actions.demo(folder)))
  addStats(program).action(async ({ days, json, ...options }: StatsFlags) =>
    conclude(
      await actions.stats(inputOf(undefined, options), { days, format: json ? 'json' : 'tables' }),
    ),
  )
  addSiteCommands(program, actions, conclude)
  return program
}

/** Commands for moving and examining a site. */
function addSiteCommands(
  program: Command,
  actions: CommandActions,
  conclude: ProgramOptions['conclude'],
): void {
  addMigrate(program).action(async ({ to, ...options }: MigrateFlags) =>
    conclude(await actions.migrate(inputOf(undefined, options), to)),
  )
  for (const name of ['backup', 'restore'] as const) {
    addArchiveCommand(program, name).action(async (file: string, options: LibraryOptions) =>
      conclude(await actions[name](inputOf(undefined, options), file)),
    )
  }
  addDoctor(program).action(async (folder: string | undefined, options: LibraryOptions) =>
    conclude(await actions.doctor(inputOf(folder, options))),
  )
}

/** One line; commander puts its suggestion into a second one. */
function formatError(text: string): string {
  return text.replace(/^error: /, 'aftercast: ').replace('\n(Did', ' (did')
}

interface LibraryOptions {
  port?: string
  host?: string
  layout?: string
  data?: string
  config?: string
}

interface FillFlags extends LibraryOptions {
  rebuild?: boolean
}

interface CheckFlags extends LibraryOptions {
  json?: boolean
}

interface HideFlags extends LibraryOptions {
  list?: boolean
  log?: boolean
  undo?: boolean
  dryRun?: boolean
  /** In days. */
  olderThan?: number
  chatUser?: string
  reason?: string
}

/** Commands that fill the catalog. */
const FILLING = { serve: addServe, work: addWork, scan: addScan }

/** Commands with an archive. */
const ARCHIVING = {
  backup: {
    description: 'Writes what cannot be made again of the data folder into a tar archive.',
    file: 'path of the new archive',
  },
  restore: {
    description: 'Puts the archive of a backup into an empty data folder or database.',
    file: 'archive that `backup` has written',
  },
}

function addServe(program: Command): Command {
  return withRebuild(
    program
      .command('serve')
      .description('Serves the recordings in DIR, or a demo library without DIR.')
      .option('--port <number>', 'port to listen on (default: 8080)')
      .option('--host <address>', 'address to listen on (default: 127.0.0.1)'),
  )
}

function addWork(program: Command): Command {
  return withRebuild(
    program.command('work').description('Scans the library for the other nodes of a cluster.'),
  )
}

function addScan(program: Command): Command {
  return withRebuild(
    program.command('scan').description('Indexes the recordings in DIR once and exits.'),
  )
}

function addCheck(program: Command): Command {
  return withLibrary(
    program
      .command('check')
      .description(
        'Lists unplayable and partly playable recordings with reason, position and advice.',
      )
      .option('--json', 'print one JSON document instead of a table')
      .addHelpText('after', '\nExits with 1 if a recording is unplayable.'),
  )
}

const UNHIDE_FORMS = `${NAME_FORM}, --chat-user NAME [STREAMER]`
const OLDER_FORM = '--older-than AGE [STREAMER] [--dry-run]'
const HIDE_FORMS = `${UNHIDE_FORMS}, ${OLDER_FORM}, --undo, --list or --log`
const HIDE_USAGE = `error: expected ${HIDE_FORMS}`
const UNHIDE_USAGE = `error: expected ${UNHIDE_FORMS}`
const CHAT_USER = 'messages of this user, in the chats of STREAMER or in all'

interface HideRun {
  name: NameToHide | undefined
  flags: HideFlags
  command: Command
}

async function runHide(actions: CommandActions, run: HideRun): Promise<number> {
  const { list = false, log = false, undo = false, ...rest } = run.flags
  const { olderThan: days, dryRun: isDryRun = false, reason = '', chatUser, ...options } = rest
  const input = inputOf(undefined, options)
  const name = nameToHide(run.name, chatUser)
  const isOlder = days !== undefined && chatUser === undefined && name?.kind !== 'session'
  const isOne = days === undefined && name !== undefined
  const hasOther = (days !== undefined || isDryRun) && !isOlder
  if (hasOther || [list, log, undo, isOlder || isOne].filter(Boolean).length !== 1) {
    return run.command.error(HIDE_USAGE, { exitCode: 2 })
  }
  if (list) return actions.listHidden(input)
  if (log) return actions.printHideLog(input)
  if (undo) return actions.undoHide(input, { reason })
  if (isOne) return actions.hide(input, { name, reason })
  return actions.hideOlder(input, { days: days ?? 0, streamer: name?.streamer, reason, isDryRun })
}

/** Undefined without a name, and for a user of the chat of one session. */
function nameToHide(
  name: NameToHide | undefined,
  user: string | undefined,
): HideChange['name'] | undefined {
  if (user === undefined) return name
  if (name?.kind === 'session') return undefined
  return { kind: 'chat-user', user, ...(name && { streamer: name.streamer }) }
}

function addHide(program: Command): Command {
  return withConfig(
    program
      .command('hide')
      .description(
        'Removes a streamer, a session or messages from the site; files are not changed.',
      )
      .argument(`[${NAME_FORM}]`, 'names as shown on the site, or the URL of a page', parseName)
      .option('--chat-user <NAME>', CHAT_USER, parseChatUser)
      .option('--older-than <AGE>', 'hide all sessions older than 30d or 8w', parseAge)
      .option('--dry-run', 'with --older-than: list them, and hide nothing')
      .option('--undo', 'show again what the last run has hidden')
      .option('--reason <TEXT>', 'why, for the log', parseReason)
      .option('--list', 'list hidden streamers, sessions and users of chats')
      .option('--log', 'list what was hidden and shown again, when and why'),
  )
}

function addUnhide(program: Command): Command {
  return withConfig(
    program
      .command('unhide')
      .description('Restores a hidden streamer, session or user of chats.')
      .argument(`[${NAME_FORM}]`, 'name as printed by `hide --list`', parseName)
      .option('--chat-user <NAME>', CHAT_USER, parseChatUser)
      .option('--reason <TEXT>', 'why, for the log', parseReason),
  )
}

function addDemo(program: Command): Command {
  return program
    .command('demo')
    .description('Writes the demo library into DIR.')
    .argument('<DIR>', 'an empty or new folder')
}

interface StatsFlags extends LibraryOptions {
  days: number
  json?: boolean
}

const DEFAULT_DAYS = 30

function addStats(program: Command): Command {
  return withConfig(
    program
      .command('stats')
      .description('Prints views and plays by day, streamer and session.')
      .option('--days <number>', 'number of days, including today (UTC)', parseDays, DEFAULT_DAYS)
      .option('--json', 'print JSON instead of tables'),
  )
}

interface MigrateFlags extends LibraryOptions {
  to: string
}

function addMigrate(program: Command): Command {
  return withConfig(
    program
      .command('migrate')
      .description('Carries hidden names, counters and the HLS secret to a shared database.')
      .requiredOption('--to <URL>', 'postgres://user:password@host/database', parseDatabaseUrl),
  )
}

function addArchiveCommand(program: Command, name: keyof typeof ARCHIVING): Command {
  const { description, file } = ARCHIVING[name]
  return withConfig(program.command(name).description(description).argument('<FILE>', file))
}

function addDoctor(program: Command): Command {
  return withLibrary(
    program
      .command('doctor')
      .description('Examines the machine and the configuration, and says what to do.')
      .addHelpText('after', '\nExits with 1 if something prevents service.'),
  )
}

/** Arguments of serve, work and scan. */
function withRebuild(command: Command): Command {
  return withLibrary(command).option(
    '--rebuild',
    'rebuild a catalog of other recordings or of another layout; hidden names stay hidden',
  )
}

/** Arguments of serve, work, scan and check. */
function withLibrary(command: Command): Command {
  return withConfig(
    command
      .argument('[DIR]', 'folder of the recordings (default: from the configuration)')
      .option(
        '--layout <NAME|TEMPLATE>',
        'how paths name sessions (default: from the configuration)',
      ),
  )
}

function withConfig(command: Command): Command {
  return command
    .option('--data <DIR>', 'folder of the catalog, indexes and thumbnails')
    .option('--config <FILE>', `configuration file (default: ${defaultConfigName})`)
}

function inputOf(folder: string | undefined, options: LibraryOptions): CommandInput {
  return {
    flags: {
      recordings: folder,
      layout: options.layout,
      data: options.data,
      'server.host': options.host,
      'server.port': options.port,
    },
    configFile: options.config,
  }
}
