// What each command does: with the configuration of its surroundings. Each imports its own modules:
// those of a server take four times as long to load as the rest.
import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'
import { findWarnings, loadConfig, type Config } from '../../base/config/load-config.ts'
import { readConfigFile } from '../../base/config/read-config-file.ts'
import { findServiceSettings } from '../../base/config/installed-settings.ts'
import type { CommandInput, FillInput } from '../cli-values.ts'
import type { Io } from '../io.ts'

/** What a process passes to the program. */
export interface Surroundings {
  io: Io
  environment: NodeJS.ProcessEnv
  /** Absolute path; relative paths of arguments and of the configuration start here. */
  workingFolder: string
  /** Folder with the settings of the service that is installed on this machine. */
  serviceFolder: string
}

export type CommandActions = ReturnType<typeof createActions>

/** One action per command; each returns its exit code. */
export function createActions(surroundings: Surroundings, version: string) {
  const { io } = surroundings
  const configure = async (input: CommandInput) => readServiceConfiguration(input, surroundings)
  const configured =
    <Options extends unknown[]>(
      load: () => Promise<(config: Config, ...rest: [...Options, Io]) => Promise<number>>,
    ) =>
    async (input: CommandInput, ...options: Options): Promise<number> => {
      const run = await load()
      return run(await configure(input), ...options, io)
    }
  const createNode =
    (kind: 'serve' | 'work') =>
    async (input: FillInput): Promise<number> => {
      const commands = await import('./serve.ts')
      const { mayRebuild } = input
      const config = await readConfiguration(input, surroundings)
      await commands[kind]({ config, io, version, mayRebuild })
      return 0
    }
  const hiding = async () => import('./hide.ts')
  return {
    serve: createNode('serve'),
    work: createNode('work'),
    async scan(input: FillInput) {
      const { scan } = await import('./scan.ts')
      return scan(await configure(input), io, input.mayRebuild)
    },
    async demo(folder: string) {
      const { demo } = await import('./demo.ts')
      return demo(folder, io)
    },
    check: configured(async () => (await import('./check.ts')).check),
    hide: configured(async () => (await hiding()).hide),
    hideOlder: configured(async () => (await hiding()).hideOlder),
    undoHide: configured(async () => (await hiding()).undoHide),
    unhide: configured(async () => (await hiding()).unhide),
    listHidden: configured(async () => (await hiding()).listHidden),
    printHideLog: configured(async () => (await hiding()).printHideLog),
    stats: configured(async () => (await import('./stats.ts')).stats),
    migrate: configured(async () => (await import('./migrate.ts')).migrate),
    backup: configured(async () => (await import('./backup.ts')).backup),
    restore: configured(async () => (await import('./restore.ts')).restore),
    doctor: configured(async () => (await import('./doctor.ts')).doctor),
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
