// Merges flags, environment, file and defaults into one read-only Config, or reports every problem
// at once. Pure.
import path from 'node:path'
import type { z } from 'zod'
import { AppError } from '../errors.ts'
import { findAdProblems, findIneffective } from './related-keys.ts'
import type { Problem } from './related-keys.ts'
import { findBasePathProblems } from './base-path.ts'
import { describeIssue } from './describe-issue.ts'
import { listConfigOptions, type ConfigOption } from './options.ts'
import { configSchema } from './schema.ts'
import { describeUnknownKey, findUnknownVariables } from './unknown-names.ts'

/** The whole configuration. Paths are absolute; `recordings` is absent for the demo library. */
export type Config = DeepReadonly<
  Omit<Values, 'server' | 'ads' | 'renditions'> & {
    server: ServerConfig
    ads: AdsSection
    renditions: RenditionsConfig
  }
>

type Values = z.output<typeof configSchema>
type AdsSection = Values['ads'] & { provider: 'none' | 'house' | 'network' }
type ServerConfig = Values['server'] & { workers: number }
type RenditionsConfig = Values['renditions'] & { concurrency: number }

/** A parsed configuration file and its path. */
export interface ConfigFile {
  path: string
  value: unknown
}

/** Sources of the configuration, in order of precedence. */
export interface ConfigSources {
  /** Values of the command line as strings, by key (`server.port`). */
  flags: Readonly<Record<string, string | undefined>>
  environment: Readonly<Record<string, string | undefined>>
  file?: ConfigFile | undefined
  /**
   * Base of relative paths in flags and environment; those in the file are relative to its folder.
   */
  workingFolder: string
  cpuCount: number
}

/** @throws AppError `usage` with one line that names every invalid key */
export function loadConfig(sources: ConfigSources): Config {
  const given = listGiven(sources)
  const raw = startValue(sources.file)
  for (const { key, value } of given) setAt(raw, key.split('.'), value)
  const parsed = configSchema.safeParse(raw, { error: describeIssue })
  if (!parsed.success) throw usageError(parsed.error.issues.flatMap(problemsOf), given)
  const { ads, server } = parsed.data
  const problems = [...findAdProblems(ads), ...findBasePathProblems(server)]
  if (problems.length > 0) throw usageError(problems, given)
  return finish(parsed.data, sources)
}

/**
 * Lines about variables that do not exist, and about settings without an effect.
 *
 * @param config what `loadConfig` made of the same sources
 */
export function findWarnings(sources: ConfigSources, config: Config): string[] {
  const keys = new Set(listGiven(sources).map(({ key }) => key))
  return [...findUnknownVariables(sources.environment), ...findIneffective(config, keys)]
}

/** Every value that was set, in order of precedence: the last one of a key wins. */
function listGiven(sources: ConfigSources): Given[] {
  const options = listConfigOptions()
  return [
    ...givenByFile(sources.file, options),
    ...options.flatMap((option) => givenByText(option, sources)),
  ]
}

interface Given {
  key: string
  value: unknown
  /** Where the user set it: `PORT`, `--port`, or the file's path. */
  origin: string
}

/** Values of the file, with paths resolved against the file's folder. */
function givenByFile(file: ConfigFile | undefined, options: ConfigOption[]): Given[] {
  if (file === undefined || !isRecord(file.value)) return []
  const origin = path.basename(file.path)
  return options.flatMap(({ key }) => {
    const value = valueAt(file.value, key.split('.'))
    if (value === undefined) return []
    // An empty text is left for the schema to reject: it would be the folder of the file.
    const isFolder = folderKeys.has(key) && typeof value === 'string' && value !== ''
    return [{ key, origin, value: isFolder ? absolute(value, path.dirname(file.path)) : value }]
  })
}

/**
 * Values of a key from the environment and the command line; the command line comes last and wins.
 */
function givenByText(option: ConfigOption, sources: ConfigSources): Given[] {
  const { key, environment } = option
  const flag = sources.flags[key]
  const variable = environment === undefined ? undefined : sources.environment[environment]
  const given: Given[] = []
  // An empty variable counts as unset, as in compose files.
  if (environment !== undefined && variable !== undefined && variable !== '') {
    given.push({ key, value: valueOfText(option, variable), origin: environment })
  }
  if (flag !== undefined) {
    given.push({ key, value: valueOfText(option, flag), origin: 'the command line' })
  }
  return given
}

/** Parses a string by the option's kind; an invalid one is left for the schema to reject. */
function valueOfText({ kind, separator }: ConfigOption, value: string): unknown {
  if (kind === 'number') return /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value
  if (kind === 'boolean') return booleanWords.get(value.toLowerCase()) ?? value
  if (kind === 'list') {
    const entries = value.split(separator === 'newline' ? '\n' : ',')
    return entries.map((entry) => entry.trim())
  }
  return value
}

const booleanWords = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

const folderKeys = new Set(['recordings', 'data', 'artifacts'])

function startValue(file: ConfigFile | undefined): Record<string, unknown> {
  if (file === undefined) return {}
  if (isRecord(file.value)) return structuredClone(file.value)
  throw new AppError('usage', `${file.path} must contain one JSON object`)
}

/** Sets a nested value; if a parent is not an object, the schema reports it. */
function setAt(target: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  const [first, ...rest] = keys
  if (first === undefined) return
  if (rest.length === 0) {
    target[first] = value
    return
  }
  target[first] ??= {}
  const inner = target[first]
  if (isRecord(inner)) setAt(inner, rest, value)
}

function valueAt(value: unknown, keys: readonly string[]): unknown {
  const [first, ...rest] = keys
  if (first === undefined) return value
  return isRecord(value) && Object.hasOwn(value, first) ? valueAt(value[first], rest) : undefined
}

function problemsOf(issue: z.core.$ZodIssue): Problem[] {
  const parts = issue.path.map(String)
  if (issue.code !== 'unrecognized_keys')
    return [{ key: parts.join('.') || 'the configuration', message: issue.message }]
  return issue.keys.map((name) => ({
    key: [...parts, name].join('.'),
    message: describeUnknownKey(parts, name),
  }))
}

/** One line that names every invalid key and the source of its value. */
function usageError(problems: Problem[], given: Given[]): AppError {
  const lines = problems.map(({ key, message }) => {
    const origin = given.findLast((entry) => `${key}.`.startsWith(`${entry.key}.`))?.origin
    return origin === undefined ? `${key}: ${message}` : `${key} (from ${origin}): ${message}`
  })
  return new AppError('usage', [...new Set(lines)].join('; '))
}

function finish(values: Values, sources: ConfigSources): Config {
  const { workingFolder, cpuCount } = sources
  return {
    ...values,
    ...(values.recordings === undefined
      ? {}
      : { recordings: absolute(values.recordings, workingFolder) }),
    data: absolute(values.data, workingFolder),
    ...(values.artifacts === undefined
      ? {}
      : { artifacts: absolute(values.artifacts, workingFolder) }),
    server: { ...values.server, workers: values.server.workers ?? cpuCount },
    renditions: {
      ...values.renditions,
      concurrency: values.renditions.concurrency ?? Math.max(1, cpuCount - 1),
    },
    ads: { ...values.ads, provider: values.ads.provider ?? defaultAdProvider(values) },
  }
}

/** The demo shows house ads; a library of one's own has no ads by default. */
function defaultAdProvider({ recordings }: Values): 'none' | 'house' {
  return recordings === undefined ? 'house' : 'none'
}

/** An absolute path; URLs (`s3://…`) are returned unchanged. */
function absolute(value: string, folder: string): string {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(value) ? value : path.resolve(folder, value)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type DeepReadonly<Value> = { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
