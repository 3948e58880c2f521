// Lint rules: the layers as a table, limits on size, and awaited promises.
import path from 'node:path'
import { defineConfig } from 'oxlint'

/** The failures and problems that the program distinguishes. */
const known = 'errors.ts problem.ts'
/** Types and values of an index and of a reader, for every container. */
const mediaTypes = 'media/media-index.ts media/media-reader.ts media/sample-run.ts'
/** What the reader of a container may import. */
const container = `${known} config storage ${mediaTypes} media/codec media/timeline`

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
 * shared/; an entry is a folder (the files directly in it) or one file. Only app composes, only
 * main.ts and process.ts use `process`.
 */
const serverRows: Record<string, string> = {
  config: 'errors.ts',
  admission: 'errors.ts',
  log: 'config',
  'storage/folder': 'errors.ts storage',
  'storage/s3': 'errors.ts storage',
  storage: 'errors.ts config storage/folder storage/s3',
  artifacts: 'errors.ts admission storage storage/s3',
  catalog: `${known} config storage`,
  'catalog/names': 'errors.ts config storage',
  'catalog/store': `${known} config storage catalog catalog/names`,
  'catalog/scan': 'errors.ts config storage catalog catalog/names catalog/store',
  'media/codec': `errors.ts ${mediaTypes}`,
  'media/timeline': `errors.ts ${mediaTypes}`,
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
  'media/recorded': `${known} storage`,
  media: `${known} config storage media/mp4 media/fmp4 media/matroska media/flv media/ts`,
  'media/index': `${known} config artifacts storage media media/codec media/recorded`,
  'decoder-child': 'errors.ts admission',
  audio: `errors.ts ${mediaTypes} decoder-child`,
  delivery: 'errors.ts config admission storage media/media-reader.ts',
  'hls/fmp4': `errors.ts ${mediaTypes} media/codec`,
  'hls/playlist': 'errors.ts media media/codec delivery',
  'hls/segment':
    'errors.ts config admission artifacts storage media media/codec media/index audio delivery ' +
    'hls/fmp4 hls/playlist',
  'hls/session':
    `${known} config artifacts storage catalog catalog/names media media/index media/recorded ` +
    'delivery hls/fmp4 hls/playlist hls/segment',
  metadata: 'errors.ts admission storage catalog/names',
  thumbnails: `errors.ts config admission artifacts ${mediaTypes} decoder-child`,
  storyboards: `errors.ts admission artifacts ${mediaTypes} thumbnails`,
  'http/responses': 'errors.ts problem-text.ts',
  'http/connections': 'http/responses',
  'http/site': 'errors.ts',
  'http/pages':
    'errors.ts admission catalog metadata purge http/responses http/site http/admitted.ts ' +
    'http/session-parameters.ts',
  'http/crawlers': 'errors.ts catalog purge http/responses http/site http/session-parameters.ts',
  purge: 'errors.ts catalog catalog/store',
  postgres: 'errors.ts',
  jobs: `${known} catalog/scan catalog/store postgres`,
  http:
    'errors.ts config admission storage catalog delivery hls/playlist hls/session metadata ' +
    'thumbnails storyboards purge http/responses http/connections http/site http/pages ' +
    'http/crawlers',
  'page-assets': 'errors.ts storage',
  demo: 'errors.ts config media/codec',
  'ads/house': 'errors.ts config',
  ads: 'errors.ts config ads/house',
  analytics: 'errors.ts config admission',
  operator: 'errors.ts problem-text.ts analytics catalog/store',
  replication: 'errors.ts catalog catalog/store analytics postgres page-assets',
}

function withOwnFiles(name: string): string {
  return `${container} media/${name}/${name}-source.ts media/${name}/${name}-limits.ts`
}

const serverLayers = Object.entries(serverRows).map(
  ([folder, row]) => [folder, row.split(' ')] as const,
)

/** app composes everything. */
const everyLayer = ['errors.ts', 'problem.ts', 'problem-text.ts', ...Object.keys(serverRows)]

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
  message: 'Only server/process.ts touches process; pass its values as arguments.',
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
    ...serverLayers.map(([folder, allowed]) => serverFolder(folder, allowed)),
    serverFolder('app', [...everyLayer, 'app/cluster']),
    serverFolder('app/cluster', [...everyLayer, 'app']),
    serverFolder('app/operator', [...everyLayer, 'app', 'app/cluster']),
    serverFolder('app/commands', [...everyLayer, 'app', 'app/cluster', 'app/operator']),
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
      files: [...childFiles, 'server/main.ts', 'server/process.ts'],
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
function serverFolder(folder: string, allowed: readonly string[]) {
  const message = `server/${folder} may import only itself, shared/ and: ${allowed.join(', ')}.`
  const targets = [...allowed, '../shared'].map((target) => relativePattern(folder, target))
  const group = ['../**', './*/**', ...targets.map((target) => `!${target}`)]
  return { files: [`server/${folder}/*`], rules: serverImports([noProcess, { group, message }]) }
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

/** Rules for files directly in server/: errors and problems at the bottom, programs at the top. */
function serverPrograms() {
  const outside = allowOnly('..', ['shared'], 'server/ imports nothing outside but shared/.')
  const nothing = allowOnly(
    '.',
    [],
    'A new file of server/ itself needs a rule in oxlint.config.ts.',
  )
  const problemOnly = allowOnly('.', ['problem.ts'], 'This file may import only problem.ts.')
  const cliOnly = allowOnly('.', ['errors.ts', 'config'], 'cli.ts imports only config and errors.')
  const programOnly = allowOnly(
    '.',
    ['app/*', 'app/commands', 'cli.ts', 'config', 'errors.ts'],
    'program.ts starts app and imports only cli, config and errors.',
  )
  const processOnly = allowOnly(
    '.',
    ['app/*', 'log', 'program.ts'],
    'process.ts imports only program, app and log.',
  )
  const mainOnly = allowOnly('.', ['process.ts'], 'main.ts imports only process.ts.')
  return [
    { files: ['server/*'], rules: serverImports([noProcess, nothing, outside]) },
    {
      files: ['server/errors.ts', 'server/problem-text.ts'],
      rules: serverImports([noProcess, problemOnly, outside]),
    },
    { files: ['server/cli.ts'], rules: serverImports([noProcess, cliOnly, outside]) },
    { files: ['server/program.ts'], rules: serverImports([noProcess, programOnly, outside]) },
    { files: ['server/process.ts'], rules: serverImports([processOnly, outside]) },
    { files: ['server/main.ts'], rules: serverImports([mainOnly, outside]) },
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
