// What the linter holds us to: the layers of DESIGN as a table, and the rules that keep files small and promises awaited.
import { defineConfig } from 'oxlint'

/**
 * Who may import whom inside server/. A folder may import itself, what stands here, and shared/.
 * Siblings never import each other, only app composes, only main.ts touches `process`.
 */
const serverLayers: Record<string, string[]> = {
  config: ['errors.ts'],
  storage: ['errors.ts', 'config'],
  catalog: ['errors.ts', 'config', 'storage'],
  media: ['errors.ts', 'config', 'storage'],
  'decoder-child': ['errors.ts'],
  sound: ['errors.ts', 'media', 'decoder-child'],
  hls: ['errors.ts', 'config', 'storage', 'catalog', 'media', 'sound'],
  thumbnails: ['errors.ts', 'config', 'storage', 'media', 'decoder-child'],
  http: ['errors.ts', 'config', 'storage', 'catalog', 'media', 'hls', 'thumbnails'],
  demo: ['errors.ts', 'config'],
  ads: ['errors.ts', 'config'],
  analytics: ['errors.ts', 'config'],
}

/** What app composes: all of it. */
const everyLayer = ['errors.ts', ...Object.keys(serverLayers)]

const webPages = ['streamers', 'sessions', 'player']
/** What arranges the pages: nothing inside web/ folders may name it. */
const webComposers = ['main.tsx', 'routes.tsx', 'layout.tsx', 'layout']

/** A rule for import specifiers; see eslint/no-restricted-imports. */
type ImportPattern =
  | { regex: string; message: string; allowTypeImports?: boolean }
  | { group: string[]; message: string }

/** Programs of their own, started by the server: they may touch `process`. */
const childFiles = ['server/**/*-child.ts', 'server/**/*-worker.ts']
const testFiles = ['**/*.test.ts', '**/*.test.tsx', 'test/**', 'bench/**', 'scripts/**']

const noWindingPaths: ImportPattern = {
  regex: '^\\./\\.\\.|[^./]/\\.\\.(/|$)',
  message: 'Name the file by its shortest path, so that the layer rules can read it.',
}
const noProcess: ImportPattern = {
  regex: '^(node:)?process$',
  message: 'Only server/main.ts touches process; what it knows comes in as arguments.',
}
const noNode: ImportPattern = {
  regex: '^node:',
  message: 'web/ and shared/ run in browsers: no Node modules.',
}
const unnamedFolder: ImportPattern = {
  regex: '^\\.\\./',
  message: 'This folder has no layer yet: give it a row in oxlint.config.ts.',
}
const webTypesOnly: ImportPattern = {
  regex: '^zod(/|$)|shared/contract\\.ts$',
  message: 'The page imports types alone from the contract, so that zod stays out of the bundle.',
  allowTypeImports: true,
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
    { files: ['server/*/**'], rules: importRule([unnamedFolder]) },
    ...Object.entries({ ...serverLayers, app: everyLayer }).flatMap(([folder, allowed]) =>
      serverFolder(folder, allowed),
    ),
    ...serverPrograms(),
    ...webRules(),
    {
      files: ['shared/**'],
      rules: importRule([noNode, allowOnly('..', [], 'shared/ imports nothing but itself.')]),
    },
    { files: ['**/*.tsx'], rules: { 'max-lines-per-function': ['error', functionLines(100)] } },
    {
      files: [...childFiles, 'server/main.ts'],
      rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' },
    },
    {
      files: ['*.config.ts', 'scripts/report-*.ts'],
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

/** Rules for one folder of server/: its own files, and the files one folder deeper. */
function serverFolder(folder: string, allowed: string[]) {
  const message = `server/${folder} may import only itself, shared/ and: ${allowed.join(', ')}.`
  const flat = allowOnly('..', [...allowed, '../shared'], message)
  const deep = allowOnly('../..', [...allowed, '../shared'], message)
  return [
    { files: [`server/${folder}/*`], rules: serverImports([noProcess, flat]) },
    { files: [`server/${folder}/*/**`], rules: serverImports([noProcess, deep]) },
  ]
}

/** Rules for the files that lie in server/ itself: errors.ts at the bottom, cli.ts and main.ts at the top. */
function serverPrograms() {
  const outside = allowOnly('..', ['shared'], 'server/ imports nothing outside but shared/.')
  const nothing = allowOnly(
    '.',
    [],
    'A new file of server/ itself needs a rule in oxlint.config.ts.',
  )
  const cliOnly = allowOnly('.', ['errors.ts', 'config'], 'cli.ts knows only config and errors.')
  const mainOnly = allowOnly(
    '.',
    ['app', 'cli.ts', 'config', 'errors.ts'],
    'main.ts starts app and knows only cli, config and errors.',
  )
  return [
    { files: ['server/*'], rules: serverImports([noProcess, nothing, outside]) },
    { files: ['server/cli.ts'], rules: serverImports([noProcess, cliOnly, outside]) },
    { files: ['server/main.ts'], rules: serverImports([mainOnly, outside]) },
  ]
}

/** Rules for web/: it imports shared/ alone, and a page never another page. */
function webRules() {
  const base = [noNode, webTypesOnly]
  const outside = 'web/ imports nothing outside but shared/.'
  const flat = allowOnly('..', ['shared'], outside)
  const deep = allowOnly('../..', ['shared', '../shared'], outside)
  const composers: ImportPattern = {
    regex: `^(\\.\\./)+(${webComposers.map(escapeDot).join('|')})(/|$)`,
    message: 'main, routes and layout arrange the parts of the page: no part imports them.',
  }
  const pages = (names: string[]): ImportPattern => ({
    regex: `^(\\.\\./)+(${names.join('|')})/`,
    message: 'A page never imports a page; what two pages share lives in ui/ or api/.',
  })
  return [
    { files: ['web/*'], rules: importRule([noWindingPaths, ...base, flat]) },
    {
      files: ['web/*/**'],
      rules: importRule([noWindingPaths, ...base, composers, pages(webPages), deep]),
    },
    ...webPages.map((page) => ({
      files: [`web/${page}/**`],
      rules: importRule([
        noWindingPaths,
        ...base,
        composers,
        pages(webPages.filter((other) => other !== page)),
        deep,
      ]),
    })),
  ]
}

/** Forbids every import that begins with `base`, but for the files and folders named (relative to it). */
function allowOnly(base: string, allowed: string[], message: string): ImportPattern {
  const inside = allowed.flatMap((name) =>
    name.endsWith('.ts') ? [`!${base}/${name}`] : [`!${base}/${name}/**`],
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
