// The command line: which commands and options there are, and their help. What they do comes in as actions.
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import type { SessionReference } from '../shared/paths.ts'
import { defaultConfigName } from './config/read-config-file.ts'

/** What a command that reads the configuration was given. */
export interface CommandInput {
  /** Values by configuration key, as text. */
  flags: Record<string, string | undefined>
  /** Path given with `--config`. */
  configFile?: string | undefined
}

/** What each command does; each answers its exit code. */
export interface CommandActions {
  serve: (input: CommandInput) => Promise<number>
  scan: (input: CommandInput) => Promise<number>
  check: (input: CommandInput, options: CheckOptions) => Promise<number>
  demo: (folder: string) => Promise<number>
  hide: (input: CommandInput, name: NameToHide) => Promise<number>
  unhide: (input: CommandInput, name: NameToHide) => Promise<number>
  listHidden: (input: CommandInput) => Promise<number>
  stats: (input: CommandInput, options: StatsOptions) => Promise<number>
}

/** How `check` answers. */
export interface CheckOptions {
  format: 'table' | 'json'
}

/** A streamer, or one session of theirs. */
export type NameToHide =
  | { kind: 'streamer'; streamer: string }
  | ({ kind: 'session' } & SessionReference)

/** How `stats` answers. */
export interface StatsOptions {
  /** Number of days, today included. */
  days: number
  format: 'tables' | 'json'
}

/** Where the command line writes; whole texts with their line ends. */
export interface CommandOutput {
  stdout: (text: string) => void
  stderr: (text: string) => void
}

/** What a run needs beside its arguments. */
export interface CommandLine {
  actions: CommandActions
  output: CommandOutput
  version: string
}

/**
 * Runs the command that the arguments (without program names) ask for and answers its exit code: 2 where they are
 * unusable, after one line on stderr. What an action throws is thrown.
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
    // Commander has written its line already; help that was asked for is no failure.
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
    .showSuggestionAfterError(false)
    .configureOutput({
      writeOut: (text) => output.stdout(text),
      writeErr: (text) => output.stderr(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'aftercast: ')),
    })
  addServe(program).action(async (folder: string | undefined, options: LibraryOptions) =>
    conclude(await actions.serve(inputOf(folder, options))),
  )
  addScan(program).action(async (folder: string | undefined, options: LibraryOptions) =>
    conclude(await actions.scan(inputOf(folder, options))),
  )
  addCheck(program).action(async (folder: string | undefined, { json, ...options }: CheckFlags) =>
    conclude(await actions.check(inputOf(folder, options), { format: json ? 'json' : 'table' })),
  )
  addHide(program).action(
    async (name: NameToHide | undefined, { list, ...options }: HideFlags, command: Command) => {
      const input = inputOf(undefined, options)
      if (list === true && name === undefined) return conclude(await actions.listHidden(input))
      if (list === true || name === undefined) return command.error(HIDE_USAGE, { exitCode: 2 })
      conclude(await actions.hide(input, name))
    },
  )
  addUnhide(program).action(async (name: NameToHide, options: LibraryOptions) =>
    conclude(await actions.unhide(inputOf(undefined, options), name)),
  )
  addDemo(program).action(async (folder: string) => conclude(await actions.demo(folder)))
  addStats(program).action(async ({ days, json, ...options }: StatsFlags) =>
    conclude(
      await actions.stats(inputOf(undefined, options), { days, format: json ? 'json' : 'tables' }),
    ),
  )
  return program
}

interface LibraryOptions {
  port?: string
  host?: string
  layout?: string
  data?: string
  config?: string
}

interface CheckFlags extends LibraryOptions {
  json?: boolean
}

interface HideFlags extends LibraryOptions {
  list?: boolean
}

function addServe(program: Command): Command {
  return withLibrary(
    program
      .command('serve')
      .description('Serves the recordings below DIR; without any, a demo library.')
      .option('--port <number>', 'port to listen on (default: 8080)')
      .option('--host <address>', 'address to listen on (default: 127.0.0.1)'),
  )
}

function addScan(program: Command): Command {
  return withLibrary(
    program.command('scan').description('Indexes the recordings below DIR once, and leaves.'),
  )
}

function addCheck(program: Command): Command {
  return withLibrary(
    program
      .command('check')
      .description(
        'Lists the recordings that cannot be played, or not fully, with reason, place and advice.',
      )
      .option('--json', 'all of it as one JSON document, instead of a table')
      .addHelpText('after', '\nExits with 1 where a recording cannot be played.'),
  )
}

const NAME_FORM = 'STREAMER[/DATE/ID]'
const HIDE_USAGE = `error: name what to hide as ${NAME_FORM}, or give --list alone`

function addHide(program: Command): Command {
  return withConfig(
    program
      .command('hide')
      .description('Takes a streamer or a session off the site; no file is touched.')
      .argument(`[${NAME_FORM}]`, 'names as the site shows them', parseNameToHide)
      .option('--list', 'list what is hidden'),
  )
}

function addUnhide(program: Command): Command {
  return withConfig(
    program
      .command('unhide')
      .description('Puts back what was hidden by this very name.')
      .argument(`<${NAME_FORM}>`, 'as `hide --list` tells it', parseNameToHide),
  )
}

function parseNameToHide(value: string): NameToHide {
  const [streamer, date, sessionId, ...rest] = value.split('/')
  if (streamer && date === undefined) return { kind: 'streamer', streamer }
  if (streamer && date && sessionId && rest.length === 0) {
    return { kind: 'session', streamer, date, sessionId }
  }
  throw new InvalidArgumentError(`It must be ${NAME_FORM}.`)
}

function addDemo(program: Command): Command {
  return program
    .command('demo')
    .description('Writes the demo library into DIR.')
    .argument('<DIR>', 'a folder that is empty or not there yet')
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
      .description('Tells views and plays by day, streamer and session.')
      .option('--days <number>', 'how many days, today included (UTC)', parseDays, DEFAULT_DAYS)
      .option('--json', 'all of it as JSON, instead of tables'),
  )
}

function parseDays(value: string): number {
  const days = /^\d+$/.test(value) ? Number(value) : 0
  if (days >= 1 && days <= MAX_DAYS) return days
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_DAYS}.`)
}

/** What serve, scan and check share. */
function withLibrary(command: Command): Command {
  return withConfig(
    command
      .argument('[DIR]', 'folder of the recordings (default: the configuration’s)')
      .option('--layout <NAME|TEMPLATE>', 'how paths name sessions (default: the configuration’s)'),
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
