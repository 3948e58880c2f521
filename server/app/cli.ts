// The command line: commands, options and help. The caller passes the actions.
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { MAX_REASON_LENGTH, parseNameToHide } from '../../shared/name-to-hide.ts'
import type { NameToHide } from '../../shared/name-to-hide.ts'
import { isDatabaseUrl } from '../base/config/database-url.ts'
import { defaultConfigName } from '../base/config/read-config-file.ts'

/** Arguments of a command that reads the configuration. */
export interface CommandInput {
  /** Values by configuration key, as strings. */
  flags: Record<string, string | undefined>
  /** Path given with `--config`. */
  configFile?: string | undefined
}

/** Arguments of a command that fills the catalog. */
export interface FillInput extends CommandInput {
  /** Whether a catalog of other recordings or of another layout is rebuilt. */
  mayRebuild: boolean
}

/** One action per command; each returns its exit code. */
export interface CommandActions {
  serve: (input: FillInput) => Promise<number>
  work: (input: FillInput) => Promise<number>
  scan: (input: FillInput) => Promise<number>
  check: (input: CommandInput, options: CheckOptions) => Promise<number>
  demo: (folder: string) => Promise<number>
  hide: (input: CommandInput, change: HideChange) => Promise<number>
  hideOlder: (input: CommandInput, options: HideOlderOptions) => Promise<number>
  undoHide: (input: CommandInput, options: Pick<HideChange, 'reason'>) => Promise<number>
  unhide: (input: CommandInput, change: HideChange) => Promise<number>
  listHidden: (input: CommandInput) => Promise<number>
  printHideLog: (input: CommandInput) => Promise<number>
  stats: (input: CommandInput, options: StatsOptions) => Promise<number>
  /** @param to URL of a database */
  migrate: (input: CommandInput, to: string) => Promise<number>
  /** @param file path of the new archive */
  backup: (input: CommandInput, file: string) => Promise<number>
  /** @param file path of an archive of `backup` */
  restore: (input: CommandInput, file: string) => Promise<number>
  doctor: (input: CommandInput) => Promise<number>
}

/** Output of `check`. */
export interface CheckOptions {
  format: 'table' | 'json'
}

/** A name to hide or to show again. */
export interface HideChange {
  name: NameToHide
  /** For the log; empty if none was given. */
  reason: string
}

/** Which sessions `hide --older-than` hides. */
export interface HideOlderOptions extends Pick<HideChange, 'reason'> {
  days: number
  /** Undefined: of all streamers. */
  streamer: string | undefined
  /** Only prints what it would hide. */
  isDryRun: boolean
}

/** Output of `stats`. */
export interface StatsOptions {
  /** Number of days, today included. */
  days: number
  format: 'tables' | 'json'
}

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
  addHide(program).action(
    async (name: NameToHide | undefined, flags: HideFlags, command: Command) => {
      const { list = false, log = false, undo = false, ...rest } = flags
      const { olderThan: days, dryRun: isDryRun = false, reason = '', ...options } = rest
      const input = inputOf(undefined, options)
      const targets = [list, log, undo, days !== undefined || name !== undefined].filter(Boolean)
      const isOlder = days !== undefined && name?.kind !== 'session'
      if (targets.length !== 1 || ((days !== undefined || isDryRun) && !isOlder)) {
        return command.error(HIDE_USAGE, { exitCode: 2 })
      }
      if (list) return conclude(await actions.listHidden(input))
      if (log) return conclude(await actions.printHideLog(input))
      if (undo) return conclude(await actions.undoHide(input, { reason }))
      if (days !== undefined) {
        const older = { days, streamer: name?.streamer, reason, isDryRun }
        return conclude(await actions.hideOlder(input, older))
      }
      if (name !== undefined) conclude(await actions.hide(input, { name, reason }))
    },
  )
  addUnhide(program).action(async (name: NameToHide, { reason = '', ...options }: HideFlags) =>
    conclude(await actions.unhide(inputOf(undefined, options), { name, reason })),
  )
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
    ARCHIVING[name](program).action(async (file: string, options: LibraryOptions) =>
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
  reason?: string
}

/** Commands that fill the catalog. */
const FILLING = { serve: addServe, work: addWork, scan: addScan }

/** Commands with an archive. */
const ARCHIVING = { backup: addBackup, restore: addRestore }

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

const NAME_FORM = 'STREAMER[/DATE/ID]'
const HIDE_FORMS = `${NAME_FORM}, --older-than AGE [STREAMER] [--dry-run], --undo, --list or --log`
const HIDE_USAGE = `error: expected ${HIDE_FORMS}`
/** About a century. */
const MAX_AGE_DAYS = 36_525

function addHide(program: Command): Command {
  return withConfig(
    program
      .command('hide')
      .description('Removes a streamer or a session from the site; files are not changed.')
      .argument(`[${NAME_FORM}]`, 'names as shown on the site, or the URL of a page', parseName)
      .option('--older-than <AGE>', 'hide all sessions older than 30d or 8w', parseAge)
      .option('--dry-run', 'with --older-than: list them, and hide nothing')
      .option('--undo', 'show again what the last run has hidden')
      .option('--reason <TEXT>', 'why, for the log', parseReason)
      .option('--list', 'list hidden streamers and sessions')
      .option('--log', 'list what was hidden and shown again, when and why'),
  )
}

function addUnhide(program: Command): Command {
  return withConfig(
    program
      .command('unhide')
      .description('Restores a hidden streamer or session.')
      .argument(`<${NAME_FORM}>`, 'name as printed by `hide --list`', parseName)
      .option('--reason <TEXT>', 'why, for the log', parseReason),
  )
}

function parseName(value: string): NameToHide {
  const name = parseNameToHide(value)
  if (name !== undefined) return name
  throw new InvalidArgumentError(`It must be ${NAME_FORM}.`)
}

/** Returns days. */
function parseAge(value: string): number {
  const { count = '', unit } = /^(?<count>\d{1,6})(?<unit>[dw])$/.exec(value)?.groups ?? {}
  const days = Number(count) * (unit === 'w' ? 7 : 1)
  if (days >= 1 && days <= MAX_AGE_DAYS) return days
  throw new InvalidArgumentError('It must be a number of days or weeks, such as 30d or 8w.')
}

function parseReason(value: string): string {
  if (value.length <= MAX_REASON_LENGTH) return value
  throw new InvalidArgumentError(`It must have at most ${MAX_REASON_LENGTH} characters.`)
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
const MAX_DAYS = 800

function addStats(program: Command): Command {
  return withConfig(
    program
      .command('stats')
      .description('Prints views and plays by day, streamer and session.')
      .option('--days <number>', 'number of days, including today (UTC)', parseDays, DEFAULT_DAYS)
      .option('--json', 'print JSON instead of tables'),
  )
}

function parseDays(value: string): number {
  const days = /^\d+$/.test(value) ? Number(value) : 0
  if (days >= 1 && days <= MAX_DAYS) return days
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_DAYS}.`)
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

function addBackup(program: Command): Command {
  return withConfig(
    program
      .command('backup')
      .description('Writes what cannot be made again of the data folder into a tar archive.')
      .argument('<FILE>', 'path of the new archive'),
  )
}

function addRestore(program: Command): Command {
  return withConfig(
    program
      .command('restore')
      .description('Puts the archive of a backup into an empty data folder or database.')
      .argument('<FILE>', 'archive that `backup` has written'),
  )
}

function addDoctor(program: Command): Command {
  return withLibrary(
    program
      .command('doctor')
      .description('Examines the machine and the configuration, and says what to do.')
      .addHelpText('after', '\nExits with 1 if something prevents service.'),
  )
}

function parseDatabaseUrl(value: string): string {
  if (isDatabaseUrl(value)) return value
  throw new InvalidArgumentError('It must be postgres://user:password@host/database.')
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
