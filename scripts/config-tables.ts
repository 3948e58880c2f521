// Writes the configuration tables of README.md and .env.example from the schema; with --check it
// only compares.
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { listConfigOptions, type ConfigOption } from '../server/config/options.ts'

const root = path.dirname(import.meta.dirname)
const begin = '<!-- configuration: written by scripts/config-tables.ts -->'
const end = '<!-- /configuration -->'

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))

async function main(args: string[]): Promise<void> {
  const stale = await findStaleConfigTables()
  if (args.includes('--check')) {
    for (const { file } of stale) console.error(`${file} does not tell the configuration's schema`)
    process.exitCode = stale.length === 0 ? 0 : 1
    return
  }
  for (const { file, wanted } of stale) await writeFile(path.join(root, file), wanted)
}

/** Files that differ from the schema, with their expected content. */
export async function findStaleConfigTables(): Promise<{ file: string; wanted: string }[]> {
  const options = listConfigOptions()
  const readme = await readFile(path.join(root, 'README.md'), 'utf8')
  const example = await readFile(path.join(root, '.env.example'), 'utf8').catch(() => '')
  return [
    { file: 'README.md', found: readme, wanted: replaceTable(readme, formatConfigTable(options)) },
    { file: '.env.example', found: example, wanted: formatEnvExample(options) },
  ].filter(({ found, wanted }) => found !== wanted)
}

/** A Markdown table of every key. */
export function formatConfigTable(options: ConfigOption[]): string {
  const rows = options.map(({ key, environment, about, ...option }) => {
    const variable = environment === undefined ? '' : `\`${environment}\``
    return [`\`${key}\``, variable, defaultSubtitle(option), about]
  })
  return formatTable([['key', 'environment', 'default', 'what it is for'], ...rows])
}

/** Every environment variable with its default, commented out. */
export function formatEnvExample(options: ConfigOption[]): string {
  const entries = options.flatMap(({ environment, about, defaultValue, fallback }) => {
    if (environment === undefined) return []
    const words = fallback === undefined ? '' : ` Without it: ${fallback.replaceAll('`', '')}.`
    const value = Array.isArray(defaultValue)
      ? defaultValue.join(',')
      : plainText(defaultValue ?? '')
    return [`# ${about.replaceAll('`', '')}${words}\n# ${environment}=${value}\n`]
  })
  return `# Environment of \`npm start\` and \`aftercast\`, with the defaults. Written by scripts/config-tables.ts.\n\n${entries.join('\n')}`
}

function defaultSubtitle({ defaultValue, fallback }: Partial<ConfigOption>): string {
  if (fallback !== undefined) return fallback
  return defaultValue === undefined ? 'none' : `\`${plainText(defaultValue)}\``
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Columns padded like the formatter does. */
function formatTable(rows: string[][]): string {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = (cells[0] ?? []).map((_, at) =>
    Math.max(...cells.map((row) => row[at]?.length ?? 0)),
  )
  const line = (row: string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = cells
  const rule = widths.map((width) => '-'.repeat(width))
  return [head, rule, ...body].map(line).join('\n')
}

function replaceTable(readme: string, table: string): string {
  const from = readme.indexOf(begin)
  const to = readme.indexOf(end)
  if (from < 0 || to < from) return `${readme.trimEnd()}\n\n${begin}\n\n${table}\n\n${end}\n`
  return `${readme.slice(0, from)}${begin}\n\n${table}\n\n${readme.slice(to)}`
}
