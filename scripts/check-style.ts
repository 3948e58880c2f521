// House rules that the linter cannot see, one function each. Prints every violation; exits with 1 where there is one.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findStaleConfigTables } from './config-tables.ts'
import { findImportCycles, findPathsToNodeAv } from './import-graph.ts'

/** A file of the project and its text. */
export interface ProjectFile {
  /** Path from the root, parts joined by `/`. */
  path: string
  text: string
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = await checkProject(path.dirname(import.meta.dirname))
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length === 0 ? 0 : 1
}

async function checkProject(root: string): Promise<string[]> {
  const files = listFiles(root)
  const stale = await findStaleConfigTables()
  return [
    ...findProblems(files),
    ...stale.map(({ file }) => `${file}: does not tell the schema; run npm run config-tables`),
    ...findPathsToNodeAv(path.join(root, 'server/main.ts')).map(
      (chain) => `server/main.ts: reaches node-av, which belongs into child processes: ${chain}`,
    ),
  ]
}

/** Every violation of the rules that look at files alone. */
export function findProblems(files: ProjectFile[]): string[] {
  const sources = files.filter(({ path: name }) => /\.(?:tsx?|mjs|css)$/.test(name))
  return [
    ...sources.flatMap(findColours),
    ...sources.flatMap(findMissingIntroduction),
    ...sources.flatMap(findVagueName),
    ...sources.flatMap(findSkippedTests),
    ...findUnnamedFolders(files),
    ...findCycles(files),
  ]
}

/** Colours and z-indices live in the tokens alone. */
function findColours({ path: name, text }: ProjectFile): string[] {
  if (!name.startsWith('web/') || name === 'web/styles/tokens.css') return []
  if (!/\.(?:css|tsx)$/.test(name)) return []
  const colour =
    /#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b(?=[^{]*;)|\b(?:rgba?|hsla?|oklch|oklab|lab|lch|hwb|color|light-dark)\(|z-index:\s*-?\d/gi
  return linesOf(text).flatMap((line, at) =>
    [...line.matchAll(colour)].map(
      ([found]) => `${name}:${at + 1}: ${found.trim()} belongs into web/styles/tokens.css`,
    ),
  )
}

/** Each file begins with a sentence that says what it is. */
function findMissingIntroduction({ path: name, text }: ProjectFile): string[] {
  if (!/^(?:server|shared|web|scripts|bench)\//.test(name) || name.includes('.test.')) return []
  // A CSS module belongs to the component beside it, which says what both are.
  if (name.endsWith('.d.ts') || name.endsWith('.module.css')) return []
  const begin = text.replace(/^#!.*\n/, '')
  return /^(?:\/\/|\/\*)/.test(begin) ? [] : [`${name}:1: say in one sentence what this file is`]
}

/** A name that fits everything says nothing. */
function findVagueName({ path: name }: ProjectFile): string[] {
  const vague = /(?:^|[/-])(?:utils?|helpers?|misc|common|manager|service|impl)(?:[/.-]|$)/
  return vague.test(name) ? [`${name}: name the file after what it does`] : []
}

/** What is skipped or runs alone tells nothing; Playwright's tests are not seen by the linter's rule. */
function findSkippedTests({ path: name, text }: ProjectFile): string[] {
  if (!/\.(?:test|spec)\.tsx?$/.test(name)) return []
  return linesOf(text).flatMap((line, at) =>
    /^\s*(?:test|it|describe|suite)(?:\.\w+)*\.(?:only|skip|fixme|todo)\b/.test(line)
      ? [`${name}:${at + 1}: no test is skipped or runs alone`]
      : [],
  )
}

/** The README tells of every folder of the root. */
function findUnnamedFolders(files: ProjectFile[]): string[] {
  const readme = files.find(({ path: name }) => name === 'README.md')?.text ?? ''
  const folders = new Set(
    files.flatMap(({ path: name }) => (name.includes('/') ? [name.split('/')[0] ?? ''] : [])),
  )
  return [...folders]
    .filter((folder) => !readme.includes(`\`${folder}/\``))
    .map((folder) => `README.md: does not say what \`${folder}/\` is`)
}

/** Dynamic imports and type imports count; the linter does not follow the former. */
function findCycles(files: ProjectFile[]): string[] {
  const modules = files.filter(({ path: name }) => /\.(?:tsx?|mjs)$/.test(name))
  return findImportCycles(modules).map((cycle) => `${cycle}: import cycle`)
}

function linesOf(text: string): string[] {
  return text.split('\n')
}

/** What git tracks or would track; without git, what lies there. Only our own text is read. */
function listFiles(root: string): ProjectFile[] {
  return listNames(root).map((name) => {
    const isText =
      /\.(?:tsx?|mjs|css|json|md|html)$/.test(name) && !name.startsWith('test/fixtures/')
    return { path: name, text: isText ? readFileSync(path.join(root, name), 'utf8') : '' }
  })
}

function listNames(root: string): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z']
  const listed = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  const names = listed.status === 0 ? listed.stdout.split('\0') : listBelow(root, '')
  return names.filter((name) => name !== '' && existsSync(path.join(root, name)))
}

const madeFolders = new Set(
  '.git node_modules dist aftercast-data coverage test-results playwright-report .cache'.split(' '),
)

function listBelow(root: string, folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (madeFolders.has(entry.name)) return []
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`
    return entry.isDirectory() ? listBelow(root, name) : [name]
  })
}
