// House rules that the linter cannot check, one function each. Prints each violation and exits with
// 1 if there is one. Paths as arguments restrict the check: `check-style.ts server/media`.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findLongSubjects } from './commit-subjects.ts'
import { findStaleConfigTables } from './config-tables.ts'
import {
  findDecisionProblems,
  findMissingReferences,
  findReadmeProblems,
} from './document-rules.ts'
import { findStaleApiFiles } from './openapi.ts'
import { findImportCycles, findPathsToNodeAv } from './import-graph.ts'
import { findWideLines } from './line-width.ts'
import { findCommandProblems } from './shell-blocks.ts'

/** A file of the project and its text. */
export interface ProjectFile {
  /** Path from the root, parts joined by `/`. */
  path: string
  text: string
}

async function checkProject(root: string): Promise<string[]> {
  const files = listFiles(root)
  const stale = await findStaleConfigTables()
  const staleApi = await findStaleApiFiles()
  return [
    ...findProblems(files),
    ...findLongSubjects(root),
    ...stale.map(({ file }) => `${file}: differs from the schema; run npm run config-tables`),
    ...staleApi.map(({ file }) => `${file}: differs from the code; run npm run openapi`),
    ...findPathsToNodeAv(path.join(root, 'server/main.ts')).map(
      (chain) => `server/main.ts: imports node-av, which only child processes may load: ${chain}`,
    ),
  ]
}

function checkPaths(root: string, paths: string[]): string[] {
  const wanted = paths.map((name) => path.relative(root, path.resolve(name)))
  return listFiles(root)
    .filter(({ path: name }) => wanted.some((at) => name === at || name.startsWith(`${at}/`)))
    .flatMap(findFileProblems)
}

/** Every violation of the rules that need only the files' text. */
export function findProblems(files: ProjectFile[]): string[] {
  return [
    ...files.flatMap(findFileProblems),
    ...findUnnamedFolders(files),
    ...findMissingReferences(files.map(withoutPlantedViolations)),
    ...findDecisionProblems(files),
    ...findReadmeProblems(files),
    ...findCommandProblems(files.map(withoutPlantedViolations)),
    ...findCycles(files),
  ]
}

const testsOfRules = new Set(
  ['check-style', 'document-rules', 'shell-blocks'].map((name) => `scripts/${name}.test.ts`),
)

function withoutPlantedViolations(file: ProjectFile): ProjectFile {
  return testsOfRules.has(file.path) ? { ...file, text: '' } : file
}

function findFileProblems(file: ProjectFile): string[] {
  const isSource = /\.(?:tsx?|mjs|css)$/.test(file.path)
  return [
    ...(isSource ? sourceRules.flatMap((findIn) => findIn(file)) : []),
    ...findWideLines(file),
  ]
}

const sourceRules = [findColours, findMissingIntroduction, findVagueName, findSkippedTests]

const colourOrLayer = new RegExp(
  [
    String.raw`#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b(?=[^{]*;)`,
    String.raw`\b(?:rgba?|hsla?|oklch|oklab|lab|lch|hwb|color|light-dark)\(`,
    String.raw`z-index:\s*-?\d`,
  ].join('|'),
  'gi',
)

/** Only the tokens define colours and z-indices. */
function findColours({ path: name, text }: ProjectFile): string[] {
  if (!name.startsWith('web/') || /^web\/styles\/(?:stage-)?tokens\.css$/.test(name)) return []
  if (!/\.(?:css|tsx)$/.test(name)) return []
  return linesOf(text).flatMap((line, at) =>
    [...line.matchAll(colourOrLayer)].map(
      ([found]) => `${name}:${at + 1}: move ${found.trim()} to web/styles/tokens.css`,
    ),
  )
}

/** Each file begins with a sentence that describes it. */
function findMissingIntroduction({ path: name, text }: ProjectFile): string[] {
  if (!/^(?:server|shared|web|scripts|bench)\//.test(name) || name.includes('.test.')) return []
  // A CSS module belongs to the component next to it, whose introduction describes both.
  if (name.endsWith('.d.ts') || name.endsWith('.module.css')) return []
  const begin = text.replace(/^#!.*\n/, '')
  return /^(?:\/\/|\/\*)/.test(begin)
    ? []
    : [`${name}:1: describe the file in one sentence at its top`]
}

/** Names that fit any file. */
function findVagueName({ path: name }: ProjectFile): string[] {
  const vague = /(?:^|[/-])(?:utils?|helpers?|misc|common|manager|service|impl)(?:[/.-]|$)/
  return vague.test(name) ? [`${name}: name the file after what it does`] : []
}

/** Skipped and exclusive tests. The linter's own rule does not cover Playwright's tests. */
function findSkippedTests({ path: name, text }: ProjectFile): string[] {
  if (!/\.(?:test|spec)\.tsx?$/.test(name)) return []
  return linesOf(text).flatMap((line, at) =>
    /^\s*(?:test|it|describe|suite)(?:\.\w+)*\.(?:only|skip|fixme|todo)\b/.test(line)
      ? [`${name}:${at + 1}: remove .only, .skip, .fixme or .todo`]
      : [],
  )
}

/** The README lists every folder of the root. */
function findUnnamedFolders(files: ProjectFile[]): string[] {
  const readme = files.find(({ path: name }) => name === 'README.md')?.text ?? ''
  const folders = new Set(
    files.flatMap(({ path: name }) => (name.includes('/') ? [name.split('/')[0] ?? ''] : [])),
  )
  return [...folders]
    .filter((folder) => !readme.includes(`\`${folder}/\``))
    .map((folder) => `README.md: describe the folder \`${folder}/\``)
}

/** Dynamic imports and type imports count; the linter does not follow the former. */
function findCycles(files: ProjectFile[]): string[] {
  const modules = files.filter(({ path: name }) => /\.(?:tsx?|mjs)$/.test(name))
  return findImportCycles(modules).map((cycle) => `${cycle}: import cycle`)
}

function linesOf(text: string): string[] {
  return text.split('\n')
}

/** Files that git tracks or would track; without git, all files. Fixtures have no text here. */
function listFiles(root: string): ProjectFile[] {
  return listNames(root).map((name) => {
    const isText =
      /\.(?:tsx?|mjs|js|css|json|md|html|sh)$/.test(name) && !name.startsWith('test/fixtures/')
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = path.dirname(import.meta.dirname)
  const paths = process.argv.slice(2)
  const problems = paths.length === 0 ? await checkProject(root) : checkPaths(root, paths)
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length === 0 ? 0 : 1
}
