// Keys and variables that do not exist: which existing one was probably meant. Pure.
import { listConfigOptions } from './options.ts'
import { findNearNames } from './near-names.ts'

const PREFIX = 'AFTERCAST_'

/** @param parents keys of the objects around the key */
export function describeUnknownKey(parents: readonly string[], name: string): string {
  const keys = listConfigOptions().map(({ key }) => key)
  const full = [...parents, name].join('.')
  if (name.includes('.') && keys.includes(full)) {
    const nested = name.split('.').reduceRight((inner, part) => `{ "${part}": ${inner} }`, '…')
    return `unknown key: write ${nested}`
  }
  const sections = keys.map((key) => key.slice(0, Math.max(key.lastIndexOf('.'), 0)))
  const similar = suggestName(full, [...keys, ...sections])
  if (similar !== '') return `unknown key${similar}`
  const elsewhere = keys.find((key) => key.endsWith(`.${name}`))
  return elsewhere === undefined ? 'unknown key' : `unknown key (did you mean ${elsewhere}?)`
}

/** A line for each variable that begins like ours and is none of them. */
export function findUnknownVariables(environment: Readonly<Record<string, unknown>>): string[] {
  const options = listConfigOptions()
  const known = new Set(options.map((option) => option.environment))
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.has(name))
    .map((name) => `${name}: unknown variable${meantVariable(name)}`)
}

function meantVariable(name: string): string {
  const options = listConfigOptions()
  const isMeant = options.find(
    ({ key, environment }) =>
      variableOf(key) === name ||
      environment === name.slice(PREFIX.length) ||
      environment?.startsWith(`${name}_`),
  )
  if (isMeant === undefined) {
    return suggestName(
      name,
      options.flatMap(({ environment }) => environment ?? []),
    )
  }
  const { key, environment } = isMeant
  if (environment !== undefined) return ` (did you mean ${environment}?)`
  return `: set ${key} in the configuration file`
}

/** `AFTERCAST_SERVER_BASE_PATH` for `server.basePath`. */
function variableOf(key: string): string {
  const words = key.replaceAll('.', '_').replaceAll(/[A-Z]/g, (letter) => `_${letter}`)
  return PREFIX + words.toUpperCase()
}

function suggestName(name: string, candidates: readonly string[]): string {
  const [nearest] = findNearNames(name, candidates)
  return nearest === undefined ? '' : ` (did you mean ${nearest}?)`
}
