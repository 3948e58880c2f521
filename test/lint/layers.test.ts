// Plants a violation of every layer rule in a copy of the tree, and asserts that the linter reports
// each one and accepts valid imports.
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'

/** One planted file: its path, its content, and the rule that must report it (absent: none may). */
interface Plant {
  file: string
  code: string
  caughtBy?: string
}

const importRule = 'eslint(no-restricted-imports)'
/** Single files that some rows may import without the rest of their folder. */
const columnFiles = [
  'media/media-index',
  'media/readers',
  'media/mp4/mp4-source',
  'media/fmp4/fmp4-source',
  'media/matroska/matroska-source',
  'media/ts/ts-source',
  'http/admitted',
  'http/session-parameters',
]

/** Programs, above every folder of server/. */
const programs = ['program', 'process', 'main']
/** Names below that are files; all others are folders. */
const files = ['problem', 'problem-text', 'errors', ...programs, ...columnFiles]

const container = 'errors problem config storage media/media-index media/codec media/timeline'
const mp4Parts = 'media/mp4/boxes media/mp4/sample-entries media/mp4/sample-tables'
const mp4 = `media/mp4 media/mp4/mp4-source ${mp4Parts} media/mp4/index`
const mkvSource = 'media/matroska/matroska-source'
const tsSource = 'media/ts/ts-source'
const matroskaFolders = ['elements', 'tracks', 'scan', 'segment']
  .map((folder) => `media/matroska/${folder}`)
  .join(' ')
const readers = ['mp4', 'fmp4', 'matroska', 'ts']
  .map((folder) => `media/${folder} media/${folder}/${folder}-source`)
  .join(' ')

/**
 * Each row: a folder or program of server/, and all that it may import besides itself and shared/;
 * `*` is every folder but those with `!`.
 */
const serverRows = `
  problem
  errors             problem
  problem-text       problem
  config             errors
  admission          errors
  log                config
  storage            errors config storage/folder storage/s3
  storage/folder     errors storage
  storage/s3         errors storage
  artifacts          errors admission storage storage/s3
  catalog            errors problem config storage
  catalog/names      errors config storage
  catalog/store      errors problem config storage catalog catalog/names
  catalog/scan       errors config storage catalog catalog/names catalog/store
  media/codec        errors media/media-index
  media/timeline     errors media/media-index
  media/mp4/boxes    ${container} media/mp4/mp4-source
  media/mp4/sample-entries ${container} media/mp4/mp4-source media/mp4/boxes
  media/mp4/sample-tables  ${container} media/mp4/mp4-source media/mp4/boxes
  media/mp4/index    ${container} media/mp4/mp4-source ${mp4Parts}
  media/mp4          ${container} ${mp4Parts} media/mp4/index
  media/fmp4/fragments ${container} ${mp4} media/fmp4/fmp4-source
  media/fmp4/scan    ${container} ${mp4} media/fmp4/fmp4-source media/fmp4/fragments
  media/fmp4         ${container} ${mp4} media/fmp4/fragments media/fmp4/scan
  media/matroska/elements ${container} ${mkvSource}
  media/matroska/tracks   ${container} ${mkvSource} media/matroska/elements
  media/matroska/scan     ${container} ${mkvSource} media/matroska/elements media/matroska/tracks
  media/matroska/segment  ${container} ${mkvSource} media/matroska/elements media/matroska/scan
  media/matroska     ${container} ${matroskaFolders}
  media/flv          ${container}
  media/ts/packets   ${container}
  media/ts/scan      ${container} media/ts/packets ${tsSource}
  media/ts/segment   ${container} media/ts/packets ${tsSource}
  media/ts           ${container} media/ts/packets media/ts/scan media/ts/segment
  media/recorded     errors problem storage
  media              errors problem config storage media/flv ${readers}
  media/index        errors problem config artifacts storage media/media-index media/readers media/codec media/recorded
  decoder-child      errors admission
  audio              errors media/media-index decoder-child
  delivery           errors config admission storage
  hls/fmp4           errors media/media-index media/codec
  hls/playlist       errors media/media-index media/readers media/codec delivery
  hls/segment        errors config admission artifacts storage media/media-index media/readers media/codec media/index audio delivery hls/fmp4 hls/playlist
  hls/session        errors problem config artifacts storage catalog catalog/names media/media-index media/readers media/index media/recorded delivery hls/fmp4 hls/playlist hls/segment
  metadata           errors admission storage catalog/names
  thumbnails         errors config admission artifacts media/media-index decoder-child
  storyboards        errors admission artifacts media/media-index thumbnails
  http/responses     errors problem-text
  http/connections   http/responses
  http/site          errors
  http/pages         errors admission catalog metadata purge http/responses http/site http/admitted http/session-parameters
  http/crawlers      errors catalog purge http/responses http/site http/session-parameters
  purge              errors catalog catalog/store
  postgres           errors
  jobs               errors problem catalog/scan catalog/store postgres
  http               errors config admission storage catalog delivery hls/playlist hls/session metadata thumbnails storyboards purge http/responses http/connections http/site http/pages http/crawlers
  page-assets        errors storage
  demo               errors config media/codec
  ads/house          errors config
  ads                errors config ads/house
  analytics          errors config admission
  operator           errors problem-text analytics catalog/store
  replication        errors catalog catalog/store analytics postgres page-assets
  app                * !app/commands !app/operator
  app/cluster        * !app/commands !app/operator
  app/operator       * !app/commands
  app/commands       *
  program            errors config app app/commands
  process            app log program
  main               process
`

const groups: Record<string, Plant[]> = {
  ...serverPlants(),
  'the page to shared/, and each page to itself': webPlants(),
  'shared/ to itself': sharedPlants(),
  'process to main.ts, process.ts and child programs': processPlants(),
  'imports to the shortest path and the folders of the product': pathPlants(),
  'size, names and types of files to the house style': stylePlants(),
}
const plants = Object.values(groups).flat()

describe('the lint configuration', () => {
  let folder = ''
  let found: Map<string, string[]>

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'aftercast-lint-'))
    await plantAll(folder)
    found = await lint(folder)
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it.each(Object.entries(groups))('restricts %s', (_name, group) => {
    const expected = group.map(({ file, caughtBy }) => [file, caughtBy ?? 'clean'])
    const seen = group.map(({ file, caughtBy }) => [file, verdict(found.get(file), caughtBy)])
    expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(expected))
  })
})

/** The expected rule if it fired, else those that fired. */
function verdict(fired: string[] | undefined, awaited: string | undefined): string {
  if (fired === undefined) return 'clean'
  return awaited !== undefined && fired.includes(awaited) ? awaited : fired.join(', ')
}

function serverPlants(): Record<string, Plant[]> {
  const rows = serverRows
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
  const names = rows.map(([from = '']) => from)
  const columns = [...names, ...columnFiles]
  const layers = rows.map(([from = '', ...allowed]) => {
    const isAllowed = (to: string): boolean =>
      allowed.includes(to) ||
      (allowed.includes('*') && !programs.includes(to) && !allowed.includes(`!${to}`))
    const pairs = columns
      // The files of this folder have their own columns.
      .filter((to) => to !== from && to !== 'media' && !isInside(to, from))
      .flatMap((to) => serverPair(from, to, isAllowed(to) ? 'allowed' : 'forbidden'))
    return [`server/${from} to its layer`, pairs] as const
  })
  return Object.fromEntries(layers)
}

/** Whether a column is a file directly in the row's folder. */
function isInside(to: string, from: string): boolean {
  return isFile(to) && path.posix.dirname(to) === from
}

/** A file of `from` that imports `to`; of a folder also as a type and with `import()`. */
function serverPair(from: string, to: string, expected: 'allowed' | 'forbidden'): Plant[] {
  const verdict = expected === 'allowed' ? {} : { caughtBy: importRule }
  const target = isFile(to) ? `${to}.ts` : `${to}/${path.posix.basename(to)}.ts`
  const name = to.replaceAll('/', '-')
  // Programs and errors.ts are single files: each pair has a copy of the tree.
  if (isFile(from)) {
    const code = valueImport(`./${target}`)
    return [{ file: `${from}-${name}/server/${from}.ts`, code, ...verdict }]
  }
  const relative = path.posix.relative(from, target)
  const specifier = relative.startsWith('.') ? relative : `./${relative}`
  const folder = `server/${from}`
  return [
    { file: `${folder}/to-${name}.ts`, code: valueImport(specifier), ...verdict },
    { file: `${folder}/type-of-${name}.ts`, code: typeImport(specifier), ...verdict },
    { file: `${folder}/later-${name}.ts`, code: lazyImport(specifier), ...verdict },
  ]
}

function webPlants(): Plant[] {
  const pages = ['streamers', 'sessions', 'player']
  const betweenPages = pages.flatMap((from) =>
    pages
      .filter((to) => to !== from)
      .map((to) => caughtImport(`web/${from}/to-${to}.ts`, `../${to}/${to}-page.tsx`)),
  )
  const fromParts = ['ui', 'api', 'ads'].flatMap((from) => [
    caughtImport(`web/${from}/to-page.ts`, '../player/player-page.tsx'),
    caughtImport(`web/${from}/to-routes.ts`, '../routes.tsx'),
    caughtImport(`web/${from}/to-server.ts`, '../../server/errors.ts'),
    caughtImport(`web/${from}/to-node.ts`, 'node:path'),
    { file: `web/${from}/to-shared.ts`, code: valueImport('../../shared/paths.ts') },
  ])
  return [
    ...betweenPages,
    ...fromParts,
    caughtImport('web/to-server.ts', '../server/errors.ts'),
    caughtImport('web/to-node.ts', 'node:path'),
    caughtImport('web/to-zod.ts', 'zod'),
    { file: 'web/to-contract.ts', code: valueImport('../shared/contract.ts') },
    { file: 'web/player/to-ui.ts', code: valueImport('../ui/card.tsx') },
    { file: 'web/player/to-own.ts', code: valueImport('./play-session.ts') },
    { file: 'web/player/inner/to-own.ts', code: valueImport('../play-session.ts') },
    { file: 'web/player/inner/to-ui.ts', code: valueImport('../../ui/card.tsx') },
    caughtImport('web/player/inner/to-page.ts', '../../sessions/sessions-page.tsx'),
    caughtImport('web/player/inner/to-server.ts', '../../../server/errors.ts'),
    { file: 'web/player/inner/to-shared.ts', code: valueImport('../../../shared/paths.ts') },
    { file: 'web/to-page.ts', code: valueImport('./player/player-page.tsx') },
  ]
}

function sharedPlants(): Plant[] {
  return [
    caughtImport('shared/to-server.ts', '../server/errors.ts'),
    caughtImport('shared/to-web.ts', '../web/main.tsx'),
    caughtImport('shared/to-node.ts', 'node:path'),
    caughtImport('shared/to-zod.ts', 'zod'),
    { file: 'shared/to-own.ts', code: valueImport('./paths.ts') },
  ]
}

function processPlants(): Plant[] {
  const pid = 'export const a = process.pid\n'
  const globalPid = 'export const a = globalThis.process.pid\n'
  return [
    caughtBy('eslint(no-restricted-globals)', 'server/app/commands/serve.ts', pid),
    caughtBy('eslint(no-restricted-properties)', 'server/http/global.ts', globalPid),
    caughtImport('server/hls/to-process.ts', 'node:process'),
    { file: 'server/main.ts', code: pid },
    { file: 'server/process.ts', code: pid },
    { file: 'server/thumbnails/some-child.ts', code: pid },
    { file: 'server/media/mp4/some-worker.ts', code: pid },
    caughtImport('server/thumbnails/other-child.ts', '../hls/playlist.ts'),
    { file: 'server/http/some.test.ts', code: pid },
  ]
}

function pathPlants(): Plant[] {
  return [
    caughtImport('server/storage/winding.ts', '../media/../http/routes.ts'),
    caughtImport('server/storage/winding-own.ts', './../http/routes.ts'),
    caughtImport('server/storage/to-web.ts', '../../web/main.tsx'),
    caughtImport('server/storage/to-test.ts', '../../test/support/media.ts'),
    caughtImport('server/storage/inner/own.ts', '../storage.ts'),
    caughtImport('server/storage/inner/deep/own.ts', '../../storage.ts'),
    caughtImport('server/hls/to-session.ts', './session/session.ts'),
    caughtImport('server/storage/to-inner.ts', './inner/own.ts'),
    caughtImport('server/unnamed.ts', './errors.ts'),
    caughtImport('server/unnamed/to-errors.ts', '../errors.ts'),
    caughtBy('import(extensions)', 'server/storage/no-extension.ts', valueImport('./storage')),
    { file: 'server/storage/to-shared.ts', code: valueImport('../../shared/paths.ts') },
    { file: 'server/media/ts/scan/to-shared.ts', code: valueImport('../../../../shared/paths.ts') },
    { file: 'server/storage/to-own.ts', code: valueImport('./storage.ts') },
    { file: 'server/storage/to-own.test.ts', code: valueImport('../../test/support/media.ts') },
  ]
}

function stylePlants(): Plant[] {
  const importType = "export type A = import('./playlist.ts').A\n"
  const fourParams = 'export function f(a: 1, b: 2, c: 3, d: 4) {\n  return [a, b, c, d]\n}\n'
  const focused = "import { it } from 'vitest'\n\nit.only('runs alone', () => {})\n"
  return [
    caughtBy('unicorn(filename-case)', 'server/hls/CamelCase.ts', valueImport('./a.ts')),
    caughtBy('typescript(consistent-type-imports)', 'server/hls/import-type.ts', importType),
    caughtBy('import(no-default-export)', 'server/hls/default.ts', 'export default 1\n'),
    caughtBy('oxc(no-barrel-file)', 'server/hls/barrel.ts', "export * from './playlist.ts'\n"),
    caughtBy('typescript(no-explicit-any)', 'server/hls/any.ts', 'export const a: any = 1\n'),
    caughtBy('eslint(max-lines)', 'server/hls/long.ts', 'export {}\n'.repeat(401)),
    caughtBy('eslint(max-params)', 'server/hls/params.ts', fourParams),
    caughtBy('vitest(no-focused-tests)', 'server/hls/focused.test.ts', focused),
  ]
}

function caughtImport(file: string, specifier: string): Plant {
  return caughtBy(importRule, file, valueImport(specifier))
}

function caughtBy(rule: string, file: string, code: string): Plant {
  return { file, code, caughtBy: rule }
}

function isFile(part: string): boolean {
  return files.includes(part)
}

function valueImport(specifier: string): string {
  return `import { a } from '${specifier}'\n\nexport const b = a\n`
}

function typeImport(specifier: string): string {
  return `import type { A } from '${specifier}'\n\nexport type B = A\n`
}

function lazyImport(specifier: string): string {
  return `export const b = () => import('${specifier}')\n`
}

/**
 * Single files get a tree of their own for each case: the folder before `server/` in their name.
 */
async function plantAll(folder: string): Promise<void> {
  const trees = new Set(plants.map(({ file }) => treeOf(file)))
  for (const tree of trees) {
    await mkdir(path.join(folder, tree), { recursive: true })
    await copyFile('oxlint.config.ts', path.join(folder, tree, 'oxlint.config.ts'))
  }
  await symlink(path.resolve('node_modules'), path.join(folder, 'node_modules'))
  for (const { file, code } of plants) {
    const target = path.join(folder, file)
    await mkdir(path.dirname(target), { recursive: true })
    await writeFile(target, code)
  }
}

function treeOf(file: string): string {
  return /^(?<tree>.+?)\/server\//.exec(file)?.groups?.tree ?? ''
}

const report = z.object({
  diagnostics: z.array(z.object({ code: z.string().optional(), filename: z.string() })),
})

/** Runs the linter on the folder like `npm run lint`, and returns the rules that fired, by file. */
async function lint(folder: string): Promise<Map<string, string[]>> {
  const program = path.resolve('node_modules/oxlint/bin/oxlint')
  const output = await new Promise<string>((resolve) => {
    execFile(
      process.execPath,
      [program, '--format', 'json'],
      { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
      // With violations it exits with 1; the output shows whether it ran.
      (_error, stdout) => resolve(stdout),
    )
  })
  const found = new Map<string, string[]>()
  for (const { filename, code } of report.parse(JSON.parse(output)).diagnostics) {
    found.set(filename, [...(found.get(filename) ?? []), code ?? 'does not parse'])
  }
  return found
}
