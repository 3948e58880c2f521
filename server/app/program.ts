// The program without its process: runs a command with the configuration of its surroundings, and
// maps failures to exit codes.
import cluster from 'node:cluster'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { inspect } from 'node:util'
import { inOneLine } from '../../shared/printable.ts'
import type { Io } from './io.ts'
import { runCommandLine } from './cli.ts'
import type { CommandActions, CommandInput, FillInput } from './cli.ts'
import { findWarnings, loadConfig, type Config } from '../base/config/load-config.ts'
import { readConfigFile } from '../base/config/read-config-file.ts'
import { findServiceSettings } from '../base/config/installed-settings.ts'
import { isAppError } from '../base/errors.ts'

const exitCodes = { done: 0, failed: 1, usage: 2 } as const

/** What a process passes to the program. */
export interface Surroundings {
  io: Io
  environment: NodeJS.ProcessEnv
  /** Absolute path; relative paths of arguments and of the configuration start here. */
  workingFolder: string
  /** Folder with the settings of the service that is installed on this machine. */
  serviceFolder: string
}

/** Runs the command line (without program names) and returns the exit code. Never rejects. */
export async function runProgram(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  const { io } = surroundings
  const version = await readVersion()
  try {
    return await runCommandLine(args, {
      actions: createActions(surroundings, version),
      version,
      output: {
        stdout: (text) => io.stdout(withoutLastLineEnd(text)),
        stderr: (text) => io.stderr(withoutLastLineEnd(text)),
      },
    })
  } catch (error) {
    if (io.signal.aborted && isAbort(error)) return exitCodes.done
    return reportFailure(error, io)
  }
}

/**
 * Each command imports its own modules: those of a server take four times as long to load as the
 * rest.
 */
function createActions(surroundings: Surroundings, version: string): CommandActions {
  const { io } = surroundings
  const configureServer = async (input: CommandInput) => readConfiguration(input, surroundings)
  const configure = async (input: CommandInput) => readServiceConfiguration(input, surroundings)
  const createNode =
    (kind: 'serve' | 'work') =>
    async (input: FillInput): Promise<number> => {
      const commands = await import('./commands/serve.ts')
      const { mayRebuild } = input
      await commands[kind]({ config: await configureServer(input), io, version, mayRebuild })
      return exitCodes.done
    }
  return {
    serve: createNode('serve'),
    work: createNode('work'),
    async scan(input) {
      const { scan } = await import('./commands/scan.ts')
      return scan(await configure(input), io, input.mayRebuild)
    },
    async check(input, options) {
      const { check } = await import('./commands/check.ts')
      return check(await configure(input), options, io)
    },
    async demo(folder) {
      const { demo } = await import('./commands/demo.ts')
      return demo(folder, io)
    },
    ...createHideActions(configure, io),
    async stats(input, options) {
      const { stats } = await import('./commands/stats.ts')
      return stats(await configure(input), options, io)
    },
    async migrate(input, to) {
      const { migrate } = await import('./commands/migrate.ts')
      return migrate(await configure(input), to, io)
    },
    async backup(input, file) {
      const { backup } = await import('./commands/backup.ts')
      return backup(await configure(input), file, io)
    },
    async restore(input, file) {
      const { restore } = await import('./commands/restore.ts')
      return restore(await configure(input), file, io)
    },
    async doctor(input) {
      const { doctor } = await import('./commands/doctor.ts')
      return doctor(await configure(input), io)
    },
  }
}

type HideActions = Pick<
  CommandActions,
  'hide' | 'hideOlder' | 'undoHide' | 'unhide' | 'listHidden' | 'printHideLog'
>

function createHideActions(
  configure: (input: CommandInput) => Promise<Config>,
  io: Io,
): HideActions {
  const load = async () => import('./commands/hide.ts')
  return {
    hide: async (input, change) => (await load()).hide(await configure(input), change, io),
    hideOlder: async (input, options) =>
      (await load()).hideOlder(await configure(input), options, io),
    undoHide: async (input, options) =>
      (await load()).undoHide(await configure(input), options, io),
    unhide: async (input, change) => (await load()).unhide(await configure(input), change, io),
    listHidden: async (input) => (await load()).listHidden(await configure(input), io),
    printHideLog: async (input) => (await load()).printHideLog(await configure(input), io),
  }
}

async function readConfiguration(
  { flags, configFile }: CommandInput,
  { environment, workingFolder, io }: Surroundings,
): Promise<Config> {
  const file = await readConfigFile({ named: configFile, workingFolder })
  const cpuCount = availableParallelism()
  const sources = { flags, environment, file, workingFolder, cpuCount }
  const config = loadConfig(sources)
  // The primary process has printed them.
  const warnings = cluster.isWorker ? [] : findWarnings(sources, config)
  for (const line of warnings) io.stderr(`aftercast: warning: ${line}`)
  return config
}

/** Of the service that is installed on this machine, unless the command is about another site. */
async function readServiceConfiguration(
  input: CommandInput,
  surroundings: Surroundings,
): Promise<Config> {
  const { flags, configFile: named } = input
  const { environment, ...folders } = surroundings
  const cpuCount = availableParallelism()
  const settings = await findServiceSettings({ ...folders, flags, environment, named, cpuCount })
  if (settings === undefined) return readConfiguration(input, surroundings)
  // Into the environment of the process: libraries read their own variables there.
  for (const [name, value] of Object.entries(settings.environment)) environment[name] ||= value
  const { workingFolder } = surroundings
  return loadConfig({ flags, environment, file: settings.file, workingFolder, cpuCount })
}

/** One line with the stack and causes of an error that is not a failure of the closed list. */
export function formatUnexpected(error: unknown): string {
  return inOneLine(`unexpected error: ${inspect(error)}`)
}

function reportFailure(error: unknown, io: Io): number {
  if (!isAppError(error)) {
    io.stderr(`aftercast: ${formatUnexpected(error)}`)
    return exitCodes.failed
  }
  io.stderr(`aftercast: ${inOneLine(error.message)}`)
  return error.code === 'usage' ? exitCodes.usage : exitCodes.failed
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

function withoutLastLineEnd(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text
}

/** The version in package.json, which is in the parent of server/, or of dist/ once it is built. */
async function readVersion(): Promise<string> {
  for (const candidate of ['../../package.json', '../../../package.json']) {
    const text = await readFile(new URL(candidate, import.meta.url), 'utf8').catch(() => undefined)
    const found = text === undefined ? null : /"version":\s*"(?<version>[^"]+)"/.exec(text)
    if (found?.groups?.version !== undefined) return found.groups.version
  }
  return 'unknown'
}
