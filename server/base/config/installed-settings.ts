// The settings of the service that is installed on this machine (docs/deploy/aftercast.service), so
// that commands have the configuration of its server.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { AppError, codeOf } from '../errors.ts'
import type { ConfigFile, ConfigSources } from './load-config.ts'
import { loadConfig } from './load-config.ts'
import { defaultConfigName, readConfigFile } from './read-config-file.ts'

/** The unit reads it as `EnvironmentFile`. */
const ENVIRONMENT_FILE = 'environment'

/** What a command was given, without the configuration file of the working folder. */
export interface ServiceWish extends Pick<ConfigSources, 'flags' | 'environment' | 'cpuCount'> {
  /** Path given with `--config`. */
  named: string | undefined
  workingFolder: string
  serviceFolder: string
}

export interface ServiceSettings {
  environment: NodeJS.Dict<string>
  file: ConfigFile | undefined
}

/**
 * Undefined without a service, and for a command with another configuration or data folder.
 *
 * @throws AppError `usage` if the user of the command may not read the settings
 */
export async function findServiceSettings(wish: ServiceWish): Promise<ServiceSettings | undefined> {
  const { named, workingFolder, serviceFolder } = wish
  const wanted = path.resolve(workingFolder, named ?? defaultConfigName)
  const isService = path.dirname(wanted) === serviceFolder
  if (!isService && (named !== undefined || (await readConfigFile({ workingFolder })))) return
  const data = wish.flags.data ?? (wish.environment.AFTERCAST_DATA || undefined)
  const environment = await readEnvironment(serviceFolder).catch((cause: unknown) => {
    if (data !== undefined) return undefined
    const reason = cause instanceof Error ? cause.message : String(cause)
    const remedy = 'run this as the user of the service, or name another site with --data'
    throw new AppError('usage', `${reason}: ${remedy}`, { cause })
  })
  if (environment === undefined) return
  const file = await readConfigFile({ named: named && wanted, workingFolder: serviceFolder })
  const sources = { flags: {}, environment, file, workingFolder: serviceFolder }
  const service = loadConfig({ ...sources, cpuCount: wish.cpuCount })
  const isOther = data !== undefined && path.resolve(workingFolder, data) !== service.data
  return isOther ? undefined : { environment, file }
}

/** Undefined if there is none. Rejects with the system's error. */
async function readEnvironment(folder: string): Promise<NodeJS.Dict<string> | undefined> {
  try {
    return parseEnv(await readFile(path.join(folder, ENVIRONMENT_FILE), 'utf8'))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
