// Lint rules: the layers as a table, limits on size, and awaited promises.
import path from 'node:path'
import { defineConfig } from 'oxlint'

/** The failures and problems that the program distinguishes. */
const known = 'base/errors.ts base/problem.ts'
/** Types and values of an index and of a reader, for every container. */
const mediaTypes = 'media/media-index.ts media/media-reader.ts media/sample-run.ts'
/** What the reader of a container may import. */
const container = `${known} base/config storage/recordings ${mediaTypes} media/codec media/timeline`

/** What the subfolders of a container may import: also its source and its limits. */
const mp4 = withOwnFiles('mp4')
const mp4Parts = 'media/mp4/boxes media/mp4/sample-entries media/mp4/sample-tables'
/** Fragmented MP4 consists of the same boxes, sample entries and tables. */
const fmp4 = `${withOwnFiles('fmp4')} media/mp4 ${mp4Parts} media/mp4/index`
const matroska = withOwnFiles('matroska')
const matroskaFolders = ['elements', 'tracks', 'scan', 'segment']
  .map((folder) => `media/matroska/${folder}`)
  .join(' ')

/**
 * The layers of server/, lowest first. A folder may import itself, the entries of its row, and
 * shared/; an entry is a folder (the files directly in it) or one file, and `a/{b,c}` is two
 * entries. Only app composes, only main.ts and app/process.ts use `process`.
 */
const serverRows: Record<string, string> = {
  'base/config': 'base/errors.ts',
  'base/admission': 'base/errors.ts',
  'base/log': 'base/config',
  'storage/recordings/folder': 'base/{closing.ts,errors.ts} storage/recordings',
  'storage/recordings/s3': 'base/errors.ts storage/recordings',
  'storage/recordings': 'base/{errors.ts,config} storage/{recordings/folder,recordings/s3}',
  'storage/artifacts': 'base/{closing.ts,errors.ts,admission} storage/{recordings,recordings/s3}',
  'library/catalog': `${known} base/config storage/recordings`,
  'library/catalog/names': 'base/{errors.ts,config} storage/recordings',
  'library/catalog/store':
    `${known} base/{clean-text.ts,config} storage/recordings ` + 'library/{catalog,catalog/names}',
  'library/catalog/scan':
    'base/{errors.ts,config,admission} storage/recordings ' +
    'library/{catalog,catalog/names,catalog/store}',
  'media/codec': `base/errors.ts ${mediaTypes}`,
  'media/timeline': `base/errors.ts ${mediaTypes}`,
  'media/mp4/boxes': mp4,
  'media/mp4/sample-entries': `${mp4} media/mp4/boxes`,
  'media/mp4/sample-tables': `${mp4} media/mp4/boxes`,
  'media/mp4/index': `${mp4} ${mp4Parts}`,
  'media/mp4': `${container} ${mp4Parts} media/mp4/index`,
  'media/fmp4/fragments': fmp4,
  'media/fmp4/scan': `${fmp4} media/fmp4/fragments`,
  'media/fmp4': `${fmp4} media/fmp4/fragments media/fmp4/scan`,
  'media/matroska/elements': matroska,
  'media/matroska/tracks': `${matroska} media/matroska/elements`,
  'media/matroska/scan': `${matroska} media/matroska/elements media/matroska/tracks`,
  'media/matroska/segment': `${matroska} media/matroska/elements media/matroska/scan`,
  'media/matroska': `${container} ${matroskaFolders}`,
  'media/flv': container,
  'media/ts/packets': container,
  'media/ts/scan': `${container} media/ts/packets media/ts/ts-source.ts`,
  'media/ts/segment': `${container} media/ts/packets media/ts/ts-source.ts`,
  'media/ts': `${container} media/ts/packets media/ts/scan media/ts/segment`,
  'media/recorded': `${known} base/{closing.ts,admission} storage/recordings`,
  'media/chat': `${known} base/clean-text.ts`,
  media:
    `${known} base/config storage/recordings media/mp4 media/fmp4 media/matroska media/flv ` +
    'media/ts media/codec/audio-codecs.ts',
  'media/index':
    `${known} base/{closing.ts,config,admission} storage/{artifacts,recordings} ` +
    'media media/codec media/recorded',
  'decode/child': 'base/{errors.ts,admission}',
  'decode/audio': `base/errors.ts ${mediaTypes} media/codec/audio-codecs.ts decode/child`,
  'decode/chat': `${known} storage/recordings media/chat decode/child`,
  'decode/video': `base/errors.ts ${mediaTypes} decode/{child,thumbnails}`,
  'stream/delivery': 'base/{errors.ts,config,admission} storage/recordings media/media-reader.ts',
  'stream/hls/fmp4': `base/errors.ts ${mediaTypes} media/codec`,
  'stream/hls/playlist': 'base/errors.ts media media/codec stream/delivery',
  'stream/hls/segment':
    'base/{errors.ts,config,admission} storage/{artifacts,recordings} media media/codec ' +
    'media/index decode/{audio,video} stream/{delivery,hls/fmp4,hls/playlist}',
  'stream/hls/session':
    `${known} base/{closing.ts,config,admission} storage/{artifacts,recordings} ` +
    'library/{catalog,catalog/names} media ' +
    'media/index media/recorded decode/video/video-job.ts ' +
    'stream/{delivery,hls/fmp4,hls/playlist,hls/segment}',
  'library/metadata':
    'base/{closing.ts,errors.ts,clean-text.ts,admission} storage/recordings library/catalog/names',
  'stream/chat':
    'base/{errors.ts,problem.ts,admission} storage/{artifacts,recordings} ' +
    'library/{catalog/names,metadata} media/chat decode/emotes',
  'decode/thumbnails':
    'base/{errors.ts,config,admission} storage/artifacts ' + `${mediaTypes} decode/child`,
  'decode/emotes': 'base/{errors.ts,admission} decode/thumbnails',
  'decode/storyboards':
    'base/{errors.ts,admission} storage/artifacts media/codec/webvtt-text.ts ' +
    `${mediaTypes} decode/thumbnails`,
  'site/http/responses':
    'base/{errors.ts,problem-text.ts,admission} stream/{delivery,hls/playlist}',
  'site/http/connections': 'site/http/responses',
  'site/http/site': 'base/errors.ts library/catalog',
  'site/http/api':
    'base/{closing.ts,errors.ts,clean-text.ts,admission} storage/recordings ' +
    'library/{catalog,metadata} ' +
    'stream/{chat,delivery,hls/playlist,hls/session} decode/{thumbnails,storyboards} ' +
    'site/{purge,http/responses,http/site,http/session-parameters.ts}',
  'site/http/pages':
    'base/{errors.ts,admission} library/{catalog,metadata} ' +
    'site/{purge,http/responses,http/site,http/session-parameters.ts}',
  'site/http/crawlers':
    'base/errors.ts library/catalog ' +
    'site/{purge,http/responses,http/site,http/session-parameters.ts}',
  'site/purge': 'base/errors.ts library/{catalog,catalog/store}',
  'cluster/postgres': 'base/errors.ts library/catalog/store/recording-columns.ts',
  'cluster/jobs': `${known} base/admission library/{catalog/scan,catalog/store} cluster/postgres`,
  'site/http':
    'base/{errors.ts,config,admission} storage/recordings library/{catalog,metadata} ' +
    'stream/{delivery,hls/playlist,hls/session} decode/{thumbnails,storyboards} ' +
    'site/{purge,http/responses,http/connections,http/site,http/api,http/pages,http/crawlers}',
  'site/page-assets': 'base/errors.ts storage/recordings',
  demo: 'base/errors.ts',
  'site/ads/house': 'base/{errors.ts,config}',
  'site/ads': 'base/{errors.ts,config} site/ads/house',
  'site/analytics': 'base/{errors.ts,config,admission}',
  'site/operator':
    'base/{errors.ts,problem-text.ts,admission} site/analytics library/catalog/store',
  'cluster/replication':
    'base/{closing.ts,errors.ts} library/{catalog,catalog/store} site/{analytics,page-assets} ' +
    'cluster/postgres',
}

function withOwnFiles(name: string): string {
  return `${container} media/${name}/${name}-source.ts media/${name}/${name}-limits.ts`
}

/** `a/{b,c}` as `a/b` and `a/c`. */
function expandBraces(entry: string): string[] {
  const { before = entry, names } = /^(?<before>.*)\{(?<names>.*)\}$/.exec(entry)?.groups ?? {}
  return names === undefined ? [before] : names.split(',').map((name) => before + name)
}

const serverLayers = Object.entries(serverRows).map(
  ([folder, row]) => [folder, row.split(' ').flatMap(expandBraces)] as const,
)

/** app composes everything. */
const everyLayer = ['base', ...Object.keys(serverRows)]

const webPages = ['streamers', 'sessions', 'player']
/** Files that compose the pages; folders in web/ do not import them. */
const webComposers = ['main.tsx', 'embed.ts', 'routes.tsx', 'layout.tsx', 'layout']

/** A rule for import specifiers; see eslint/no-restricted-imports. */
type ImportPattern =
  | { regex: string; message: string; allowTypeImports?: boolean }
  | { group: string[]; message: string }

/** Child programs started by the server: they may use `process`. */
const childFiles = ['server/**/*-child.ts', 'server/**/*-worker.ts']
const testFiles = ['**/*.test.ts', '**/*.test.tsx', 'test/**', 'bench/**', 'scripts/**']

const noWindingPaths: ImportPattern = {
  regex: '^\\./\\.\\.|[^./]/\\.\\.(/|$)',
  message: 'Name the file by its shortest path, so that the layer rules can read it.',
}
const noProcess: ImportPattern = {
  regex: '^(node:)?process$',
  message: 'Only server/app/process.ts touches process; pass its values as arguments.',
}
const noNode: ImportPattern = {
  regex: '^node:',
  message: 'web/ and shared/ run in browsers: no Node modules.',
}
const unnamedFolder: { regex: string; message: string } = {
  regex: '^\\.\\./',
  message: 'This folder has no layer yet: give it a row in oxlint.config.ts.',
}
const unnamedSubfolder: ImportPattern = { regex: '^\\./.+/', message: unnamedFolder.message }
const noZod: ImportPattern = {
  regex: '^zod(/|$)',
  message: 'web/ and shared/ are in the page, where zod is too large: use shared/shape.ts.',
}

export default defineConfig({
  plugins: ['typescript', 'import', 'react', 'jsx-a11y', 'unicorn', 'oxc', 'promise', 'vitest'],
  categories: { correctness: 'error' },
  ignorePatterns: ['dist', 'node_modules', 'test/fixtures'],
  rules: {
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/consistent-type-imports': ['error', { disallowTypeAnnotations: true }],
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/no-namespace': 'error',
    'typescript/prefer-as-const': 'error',
    'import/extensions': ['error', 'always', { ignorePackages: true }],
    'import/no-absolute-path': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-default-export': 'error',
    'import/no-self-import': 'error',
    'oxc/no-barrel-file': ['error', { threshold: 0 }],
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],
    'unicorn/prefer-node-protocol': 'error',
    eqeqeq: 'error',
    'prefer-const': 'error',
    'no-var': 'error',
    'no-console': 'error',
    'no-else-return': 'error',
    'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'] }],
    'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
    'max-lines-per-function': ['error', functionLines(60)],
    'max-params': ['error', 3],
    'max-depth': ['error', 3],
    'react/rules-of-hooks': 'error',
    'react/exhaustive-deps': 'error',
    'vitest/no-focused-tests': 'error',
    'vitest/no-disabled-tests': 'error',
    // The second argument is the message shown on failure.
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
  },
  overrides: [
    {
      files: ['server/**', 'web/**', 'shared/**'],
      rules: {
        'no-restricted-globals': ['error', 'process'],
        'no-restricted-properties': ['error', { object: 'globalThis', property: 'process' }],
      },
    },
    { files: ['server/*/**'], rules: importRule([noProcess, unnamedFolder, unnamedSubfolder]) },
    serverFolder('base', []),
    ...serverLayers.map(([folder, allowed]) => serverFolder(folder, allowed)),
    appFolder('app', ['app/cluster', 'app/metrics']),
    appFolder('app/cluster', ['app']),
    appFolder('app/metrics', ['app']),
    appFolder('app/operator', ['app', 'app/cluster']),
    appFolder('app/commands', ['app', 'app/cluster', 'app/metrics', 'app/operator']),
    ...serverPrograms(),
    ...webRules(),
    {
      files: ['shared/**'],
      rules: importRule([
        noNode,
        noZod,
        allowOnly('..', [], 'shared/ imports nothing but itself.'),
      ]),
    },
    { files: ['**/*.tsx'], rules: { 'max-lines-per-function': ['error', functionLines(100)] } },
    {
      files: [...childFiles, 'server/main.ts', 'server/app/process.ts'],
      rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' },
    },
    {
      files: [
        '*.config.ts',
        'docs/.vitepress/config.ts',
        'scripts/report-*.ts',
        'test/e2e/indexed-library.ts',
      ],
      rules: { 'import/no-default-export': 'off' },
    },
    {
      files: testFiles,
      rules: {
        'max-lines-per-function': 'off',
        'max-lines': 'off',
        'no-console': 'off',
        'no-restricted-globals': 'off',
        'no-restricted-properties': 'off',
        'no-restricted-imports': 'off',
      },
    },
  ],
})

/** The rule for the files directly in a folder of server/: they import only what its row lists. */
function serverFolder(
  folder: string,
  allowed: readonly string[],
  forbidden: readonly string[] = [],
) {
  const message = `server/${folder} may import only itself, shared/ and: ${allowed.join(', ')}.`
  const targets = [...allowed, '../shared'].map((target) => `!${relativePattern(folder, target)}`)
  const others = forbidden.map((target) => relativePattern(folder, target))
  const group = ['../**', './*/**', ...targets, ...others]
  return { files: [`server/${folder}/*`], rules: serverImports([noProcess, { group, message }]) }
}

/** Any layer below, but not the programs that start app. */
function appFolder(folder: string, allowed: readonly string[]) {
  return serverFolder(folder, [...everyLayer, ...allowed], ['app/program.ts', 'app/process.ts'])
}

/**
 * An import pattern for a file, or for the files directly in a folder, as written by a file in
 * `folder`.
 */
function relativePattern(folder: string, target: string): string {
  const relative = path.posix.relative(folder, target)
  const specifier = relative.startsWith('.') ? relative : `./${relative}`
  return target.endsWith('.ts') ? specifier : `${specifier}/*`
}

/** Rules for single files: errors and problems at the bottom, programs at the top. */
function serverPrograms() {
  const outside = allowOnly('..', ['shared'], 'server/ imports nothing outside but shared/.')
  const allow = (target: string): string => `!./${target}`
  const file = (name: string, near: readonly string[], above: readonly string[] = []) => {
    const list = [...near, ...above].join(', ') || 'nothing'
    const message = `server/${name} may import only shared/ and: ${list}.`
    const own = { group: ['./**', ...near.map(allow), './process.ts'], message }
    const others = ['../../shared/*', ...above.map((target) => `../${target}`)]
    const up = { group: ['../**', ...others.map((target) => `!${target}`)], message }
    return { files: [`server/${name}`], rules: serverImports([noProcess, own, up]) }
  }
  const mainOnly = allowOnly('.', ['app/process.ts'], 'main.ts imports only app/process.ts.')
  const nothing = allowOnly(
    '.',
    [],
    'A new file of server/ itself needs a rule in oxlint.config.ts.',
  )
  return [
    { files: ['server/*'], rules: serverImports([noProcess, nothing, outside]) },
    { files: ['server/main.ts'], rules: serverImports([mainOnly, outside]) },
    file('base/problem.ts', []),
    file('base/errors.ts', ['problem.ts']),
    file('base/problem-text.ts', ['problem.ts']),
    file('base/clean-text.ts', []),
    file(
      'app/cli.ts',
      ['cli-values.ts', 'commands/actions.ts'],
      ['base/errors.ts', 'base/config/*'],
    ),
    file('app/program.ts', ['*', 'commands/*'], ['base/errors.ts', 'base/config/*']),
    file('app/process.ts', ['*'], ['base/log/*']),
  ]
}

/** Rules for web/: it imports only shared/, and a page never imports another page. */
function webRules() {
  const base = [noNode, noZod]
  const outside = 'web/ imports nothing outside but shared/.'
  const composers: ImportPattern = {
    regex: `^(\\.\\./)+(${webComposers.map(escapeDot).join('|')})(/|$)`,
    message: 'main, routes and layout arrange the parts of the page: no part imports them.',
  }
  const pages = (names: string[]): ImportPattern => ({
    regex: `^(\\.\\./)+(${names.join('|')})/`,
    message: 'A page never imports a page; what two pages share lives in ui/ or api/.',
  })
  const inFolder = (folder: string, patterns: ImportPattern[]) =>
    ['*', '*/*', '*/*/*'].map((files, depth) => ({
      files: [`web/${folder}/${files}`],
      rules: importRule([
        noWindingPaths,
        ...base,
        composers,
        ...patterns,
        allowOnly('../'.repeat(depth + 2).slice(0, -1), ['shared'], outside),
      ]),
    }))
  return [
    {
      files: ['web/*'],
      rules: importRule([noWindingPaths, ...base, allowOnly('..', ['shared'], outside)]),
    },
    ...inFolder('*', [pages(webPages)]),
    ...webPages.flatMap((page) =>
      inFolder(page, [pages(webPages.filter((other) => other !== page))]),
    ),
  ]
}

/**
 * Forbids every import that starts with `base`, except the files and folders listed (relative to
 * it).
 */
function allowOnly(base: string, allowed: string[], message: string): ImportPattern {
  const inside = allowed.flatMap((name) =>
    /\.ts$|\*$/.test(name) ? [`!${base}/${name}`] : [`!${base}/${name}/**`],
  )
  return { group: [`${base}/**`, ...inside], message }
}

function serverImports(patterns: ImportPattern[]) {
  return importRule([noWindingPaths, ...patterns])
}

function importRule(
  patterns: ImportPattern[],
): Record<string, ['error', { patterns: ImportPattern[] }]> {
  return { 'no-restricted-imports': ['error', { patterns }] }
}

function functionLines(max: number) {
  return { max, skipBlankLines: true, skipComments: true }
}

function escapeDot(name: string): string {
  return name.replaceAll('.', '\\.')
}
