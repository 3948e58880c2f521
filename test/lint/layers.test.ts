// Plants a violation of every layer rule in a copy of the tree, and asserts that the linter reports
// each one and accepts valid imports.
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeTempFolder } from '../support/temp-folder.ts'

/**
 * Planted lines: the file that they are part of, or all of, their code, and the rule that must
 * report them (absent: none may).
 */
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
  'site/http/session-parameters',
]

/** Programs, above every folder of server/. */
const programs = ['app/program', 'app/process', 'main']
const known = ['base/problem', 'base/problem-text', 'base/errors', 'base/clean-text']
/** Names below that are files; all others are folders. */
const files = [...known, ...programs, ...columnFiles]

const container =
  'base/{errors,problem,config} storage/recordings media/{media-index,codec,timeline}'
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
 * Each row: a folder or file of server/, and all that it may import besides itself and shared/;
 * `*` is every folder but those with `!`, and `a/{b,c}` is `a/b` and `a/c`.
 */
const serverRows = `
  base/problem
  base/clean-text
  base/errors               base/problem
  base/problem-text         base/problem
  base/config               base/errors
  base/admission            base/errors
  base/log                  base/config
  storage/recordings        base/{errors,config} storage/{recordings/folder,recordings/s3}
  storage/recordings/folder base/errors storage/recordings
  storage/recordings/s3     base/errors storage/recordings
  storage/artifacts         base/{errors,admission} storage/{recordings,recordings/s3}
  library/catalog           base/{errors,problem,config} storage/recordings
  library/catalog/names     base/{errors,config} storage/recordings
  library/catalog/store     base/{errors,problem,clean-text,config} storage/recordings library/{catalog,catalog/names}
  library/catalog/scan      base/{errors,config,admission} storage/recordings library/{catalog,catalog/names,catalog/store}
  media/codec               base/errors media/media-index
  media/timeline            base/errors media/media-index
  media/mp4/boxes           ${container} media/mp4/mp4-source
  media/mp4/sample-entries  ${container} media/mp4/mp4-source media/mp4/boxes
  media/mp4/sample-tables   ${container} media/mp4/mp4-source media/mp4/boxes
  media/mp4/index           ${container} media/mp4/mp4-source ${mp4Parts}
  media/mp4                 ${container} ${mp4Parts} media/mp4/index
  media/fmp4/fragments      ${container} ${mp4} media/fmp4/fmp4-source
  media/fmp4/scan           ${container} ${mp4} media/fmp4/fmp4-source media/fmp4/fragments
  media/fmp4                ${container} ${mp4} media/fmp4/fragments media/fmp4/scan
  media/matroska/elements   ${container} ${mkvSource}
  media/matroska/tracks     ${container} ${mkvSource} media/matroska/elements
  media/matroska/scan       ${container} ${mkvSource} media/matroska/elements media/matroska/tracks
  media/matroska/segment    ${container} ${mkvSource} media/matroska/elements media/matroska/scan
  media/matroska            ${container} ${matroskaFolders}
  media/flv                 ${container}
  media/ts/packets          ${container}
  media/ts/scan             ${container} media/ts/packets ${tsSource}
  media/ts/segment          ${container} media/ts/packets ${tsSource}
  media/ts                  ${container} media/ts/packets media/ts/scan media/ts/segment
  media/recorded            base/{errors,problem,admission} storage/recordings
  media/chat                base/{errors,problem,clean-text}
  media                     base/{errors,problem,config} storage/recordings media/flv ${readers}
  media/index               base/{errors,problem,config,admission} storage/{artifacts,recordings} media/media-index media/readers media/codec media/recorded
  decode/child              base/{errors,admission}
  decode/audio              base/errors media/media-index decode/child
  decode/chat               base/{errors,problem} storage/recordings media/chat decode/child
  decode/video              base/errors media/media-index decode/{child,thumbnails}
  stream/delivery           base/{errors,config,admission} storage/recordings
  stream/hls/fmp4           base/errors media/media-index media/codec
  stream/hls/playlist       base/errors media/media-index media/readers media/codec stream/delivery
  stream/hls/segment        base/{errors,config,admission} storage/{artifacts,recordings} media/media-index media/readers media/codec media/index decode/{audio,video} stream/{delivery,hls/fmp4,hls/playlist}
  stream/hls/session        base/{errors,problem,config,admission} storage/{artifacts,recordings} library/{catalog,catalog/names} media/media-index media/readers media/index media/recorded decode/video/video-job stream/{delivery,hls/fmp4,hls/playlist,hls/segment}
  stream/chat               base/{errors,problem,admission} storage/{artifacts,recordings} library/{catalog/names,metadata} media/chat decode/emotes
  library/metadata          base/{errors,clean-text,admission} storage/recordings library/catalog/names
  decode/thumbnails         base/{errors,config,admission} storage/artifacts media/media-index decode/child
  decode/storyboards        base/{errors,admission} storage/artifacts media/media-index decode/thumbnails
  decode/emotes             base/{errors,admission} decode/thumbnails
  site/http/responses       base/{errors,problem-text,admission} stream/{delivery,hls/playlist}
  site/http/connections     site/http/responses
  site/http/site            base/errors library/catalog
  site/http/api             base/{errors,clean-text,admission} storage/recordings library/{catalog,metadata} stream/{chat,delivery,hls/playlist,hls/session} decode/{thumbnails,storyboards} site/{purge,http/responses,http/site,http/session-parameters}
  site/http/pages           base/{errors,admission} library/{catalog,metadata} site/{purge,http/responses,http/site,http/session-parameters}
  site/http/crawlers        base/errors library/catalog site/{purge,http/responses,http/site,http/session-parameters}
  site/purge                base/errors library/{catalog,catalog/store}
  cluster/postgres          base/errors library/catalog/store/recording-columns
  cluster/jobs              base/{errors,problem,admission} library/{catalog/scan,catalog/store} cluster/postgres
  site/http                 base/{errors,config,admission} storage/recordings library/{catalog,metadata} stream/{delivery,hls/playlist,hls/session} decode/{thumbnails,storyboards} site/{purge,http/responses,http/connections,http/site,http/api,http/pages,http/crawlers}
  site/page-assets          base/errors storage/recordings
  demo                      base/errors
  site/ads/house            base/{errors,config}
  site/ads                  base/{errors,config} site/ads/house
  site/analytics            base/{errors,config,admission}
  site/operator             base/{errors,problem-text,admission} site/analytics library/catalog/store
  cluster/replication       base/errors library/{catalog,catalog/store} site/{analytics,page-assets} cluster/postgres
  app                       * !app/commands !app/operator
  app/cluster               * !app/commands !app/metrics !app/operator
  app/metrics               * !app/cluster !app/commands !app/operator
  app/operator              * !app/commands !app/metrics
  app/commands              *
  app/program               base/{errors,config} app app/commands
  app/process               app base/log app/program
  main                      app/process
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
const plantsByFile = Map.groupBy(plants, ({ file }) => file)

describe('the lint configuration', () => {
  let folder = ''
  let found: Map<Plant, string[]>

  beforeAll(async () => {
    folder = makeTempFolder('lint')
    await plantAll(folder)
    found = await lint(folder)
  })
  it.each(Object.entries(groups))('restricts %s', (_name, group) => {
    const expected = group.map(({ file, code, caughtBy }) => [file, code, caughtBy ?? 'clean'])
    const seen = group.map((plant) => {
      const { file, code, caughtBy } = plant
      return [file, code, verdict(found.get(plant), caughtBy)]
    })
    expect(seen).toEqual(expected)
  })

  it('is tested for every folder of server/', () => {
    const folders = new Set(globSync('server/*/**/*.ts').map((file) => path.posix.dirname(file)))
    // Its files have a row each.
    folders.delete('server/base')
    const named = [...folders].map((folder) => `${folder} to its layer`)
    expect(Object.keys(groups)).toEqual(expect.arrayContaining(named))
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
    .map((row) => row.trim().split(/\s+/).flatMap(expandBraces))
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

/** `a/{b,c}` as `a/b` and `a/c`. */
function expandBraces(entry: string): string[] {
  const [, before = '', names] = /^(.*)\{(.*)\}$/.exec(entry) ?? []
  return names === undefined ? [entry] : names.split(',').map((name) => before + name)
}

/** Whether a column is a file directly in the row's folder. */
function isInside(to: string, from: string): boolean {
  return isFile(to) && path.posix.dirname(to) === from
}

/**
 * Lines of `from` that import `to`; of a folder a file of their own, also as a type and with
 * `import()`.
 */
function serverPair(from: string, to: string, expected: 'allowed' | 'forbidden'): Plant[] {
  const verdict = expected === 'allowed' ? {} : { caughtBy: importRule }
  const target = isFile(to) ? `${to}.ts` : `${to}/${path.posix.basename(to)}.ts`
  const name = to.replaceAll('/', '-')
  const folderOf = isFile(from) ? path.posix.dirname(from) : from
  const relative = path.posix.relative(folderOf, target)
  const specifier = relative.startsWith('.') ? relative : `./${relative}`
  // Each single file has a copy of the tree.
  if (isFile(from)) {
    const file = `${from.replaceAll('/', '-')}/server/${from}.ts`
    return [{ file, code: namedImport(specifier, name.replaceAll('-', '_')), ...verdict }]
  }
  const codes = [valueImport(specifier), typeImport(specifier), lazyImport(specifier)]
  return codes.map((code) => ({ file: `server/${from}/to-${name}.ts`, code, ...verdict }))
}

/** A folder of web/ with a file `*-page.tsx` is a page. */
function webPlants(): Plant[] {
  const pages = globSync('web/*/*-page.tsx').map((file) => path.basename(path.dirname(file)))
  const betweenPages = pages.flatMap((from) =>
    pages
      .filter((to) => to !== from)
      .map((to) => caughtImport(`web/${from}/to-${to}.ts`, `../${to}/${to}-page.tsx`)),
  )
  const fromParts = ['ui', 'api', 'ads'].flatMap((from) => [
    caughtImport(`web/${from}/to-page.ts`, '../player/player-page.tsx'),
    caughtImport(`web/${from}/to-routes.ts`, '../routes.tsx'),
    caughtImport(`web/${from}/to-server.ts`, '../../server/base/errors.ts'),
    caughtImport(`web/${from}/to-node.ts`, 'node:path'),
    { file: `web/${from}/to-shared.ts`, code: valueImport('../../shared/paths.ts') },
  ])
  return [
    ...betweenPages,
    ...fromParts,
    caughtImport('web/to-server.ts', '../server/base/errors.ts'),
    caughtImport('web/to-node.ts', 'node:path'),
    caughtImport('web/to-zod.ts', 'zod'),
    { file: 'web/to-contract.ts', code: valueImport('../shared/contract.ts') },
    { file: 'web/player/to-ui.ts', code: valueImport('../ui/card.tsx') },
    { file: 'web/player/to-own.ts', code: valueImport('./play-session.ts') },
    { file: 'web/player/inner/to-own.ts', code: valueImport('../play-session.ts') },
    { file: 'web/player/inner/to-ui.ts', code: valueImport('../../ui/card.tsx') },
    caughtImport('web/player/inner/to-page.ts', '../../sessions/sessions-page.tsx'),
    caughtImport('web/player/inner/to-server.ts', '../../../server/base/errors.ts'),
    { file: 'web/player/inner/to-shared.ts', code: valueImport('../../../shared/paths.ts') },
    { file: 'web/to-page.ts', code: valueImport('./player/player-page.tsx') },
  ]
}

function sharedPlants(): Plant[] {
  return [
    caughtImport('shared/to-server.ts', '../server/base/errors.ts'),
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
    caughtBy('eslint(no-restricted-properties)', 'server/site/http/global.ts', globalPid),
    caughtImport('server/stream/hls/to-process.ts', 'node:process'),
    { file: 'server/main.ts', code: pid },
    { file: 'server/app/process.ts', code: pid },
    { file: 'server/decode/thumbnails/some-child.ts', code: pid },
    { file: 'server/media/mp4/some-worker.ts', code: pid },
    caughtImport('server/decode/thumbnails/other-child.ts', '../../stream/hls/playlist.ts'),
    { file: 'server/site/http/some.test.ts', code: pid },
  ]
}

function pathPlants(): Plant[] {
  return [
    caughtImport('server/storage/recordings/winding.ts', '../../media/../http/routes.ts'),
    caughtImport('server/storage/recordings/winding-own.ts', './../http/routes.ts'),
    caughtImport('server/storage/recordings/to-web.ts', '../../../web/main.tsx'),
    caughtImport('server/storage/recordings/to-test.ts', '../../../test/support/media.ts'),
    caughtImport('server/storage/recordings/inner/own.ts', '../storage.ts'),
    caughtImport('server/storage/recordings/inner/deep/own.ts', '../../storage.ts'),
    caughtImport('server/stream/hls/to-session.ts', './session/session.ts'),
    caughtImport('server/storage/recordings/to-inner.ts', './inner/own.ts'),
    caughtImport('server/unnamed.ts', './base/errors.ts'),
    caughtImport('server/unnamed/to-errors.ts', '../base/errors.ts'),
    caughtBy(
      'import(extensions)',
      'server/storage/recordings/no-extension.ts',
      valueImport('./storage'),
    ),
    {
      file: 'server/storage/recordings/to-shared.ts',
      code: valueImport('../../../shared/paths.ts'),
    },
    { file: 'server/media/ts/scan/to-shared.ts', code: valueImport('../../../../shared/paths.ts') },
    { file: 'server/storage/recordings/to-own.ts', code: valueImport('./storage.ts') },
    {
      file: 'server/storage/recordings/to-own.test.ts',
      code: valueImport('../../../test/support/media.ts'),
    },
  ]
}

function stylePlants(): Plant[] {
  const importType = "export type A = import('./playlist.ts').A\n"
  const fourParams = 'export function f(a: 1, b: 2, c: 3, d: 4) {\n  return [a, b, c, d]\n}\n'
  const focused = "import { it } from 'vitest'\n\nit.only('runs alone', () => {})\n"
  return [
    caughtBy('unicorn(filename-case)', 'server/stream/hls/CamelCase.ts', valueImport('./a.ts')),
    caughtBy('typescript(consistent-type-imports)', 'server/stream/hls/import-type.ts', importType),
    caughtBy('import(no-default-export)', 'server/stream/hls/default.ts', 'export default 1\n'),
    caughtBy(
      'oxc(no-barrel-file)',
      'server/stream/hls/barrel.ts',
      "export * from './playlist.ts'\n",
    ),
    caughtBy(
      'typescript(no-explicit-any)',
      'server/stream/hls/any.ts',
      'export const a: any = 1\n',
    ),
    caughtBy('eslint(max-lines)', 'server/stream/hls/long.ts', 'export {}\n'.repeat(401)),
    caughtBy('eslint(max-params)', 'server/stream/hls/params.ts', fourParams),
    caughtBy('vitest(no-focused-tests)', 'server/stream/hls/focused.test.ts', focused),
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
  return namedImport(specifier, 'a')
}

function namedImport(specifier: string, name: string): string {
  return `import { ${name} } from '${specifier}'\n\nexport const of_${name} = ${name}\n`
}

function typeImport(specifier: string): string {
  return `import type { A } from '${specifier}'\n\nexport type B = A\n`
}

function lazyImport(specifier: string): string {
  return `export const later = () => import('${specifier}')\n`
}

/** Each single file gets a tree of its own: the folder before `server/` in its name. */
async function plantAll(folder: string): Promise<void> {
  const trees = new Set(plants.map(({ file }) => treeOf(file)))
  for (const tree of trees) {
    await mkdir(path.join(folder, tree), { recursive: true })
    await copyFile('oxlint.config.ts', path.join(folder, tree, 'oxlint.config.ts'))
  }
  await symlink(path.resolve('node_modules'), path.join(folder, 'node_modules'))
  for (const [file, own] of plantsByFile) {
    const target = path.join(folder, file)
    await mkdir(path.dirname(target), { recursive: true })
    await writeFile(target, own.map(({ code }) => code).join(''))
  }
}

function treeOf(file: string): string {
  return /^(?<tree>.+?)\/server\//.exec(file)?.groups?.tree ?? ''
}

const report = z.object({
  diagnostics: z.array(
    z.object({
      code: z.string().optional(),
      filename: z.string(),
      labels: z.array(z.object({ span: z.object({ line: z.number() }) })),
    }),
  ),
})

/** Runs the linter like `npm run lint` in the folder, and returns the rules that fired. */
async function lint(folder: string): Promise<Map<Plant, string[]>> {
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
  const found = new Map<Plant, string[]>()
  for (const { filename, code, labels } of report.parse(JSON.parse(output)).diagnostics) {
    for (const plant of plantsAt(filename, labels[0]?.span.line)) {
      found.set(plant, [...(found.get(plant) ?? []), code ?? 'does not parse'])
    }
  }
  return found
}

/** The plant that has the line of a file, or all of the file where a report has no line. */
function plantsAt(file: string, line: number | undefined): Plant[] {
  const own = plantsByFile.get(file) ?? []
  if (own.length === 1 || line === undefined) return own
  let end = 0
  return own.filter(({ code }) => {
    const start = end
    end += code.split('\n').length - 1
    return line > start && line <= end
  })
}
