import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { findProblems, type ProjectFile } from './check-style.ts'
import { formatConfigTable, formatEnvExample } from './config-tables.ts'
import { findPathsToNodeAv } from './import-graph.ts'
import { makeTempFolder } from '../test/support/temp-folder.ts'

const readme: ProjectFile = { path: 'README.md', text: 'Folders: `web/`, `server/`' }

function problemsOf(path: string, text: string): string[] {
  return findProblems([readme, { path, text }])
}

describe('findProblems', () => {
  it.each([
    ['.a { color: #fff; }'],
    ['.a { background: rgb(0 0 0 / 50%); }'],
    ['.a { color: light-dark(red, blue); }'],
    ['.a { z-index: 3; }'],
  ])('finds a colour or z-index outside the tokens: %s', (css) => {
    expect(problemsOf('web/ui/card.module.css', `/* Card. */\n${css}\n`)).toEqual([
      expect.stringContaining('web/ui/card.module.css:2:'),
    ])
  })

  it('allows colours in the tokens, and ids elsewhere', () => {
    for (const name of ['tokens.css', 'stage-tokens.css']) {
      const tokens = '/* Tokens. */\n:root { --ink: #111; }'
      expect(problemsOf(`web/styles/${name}`, tokens)).toEqual([])
    }
    const css = '/* Card. */\n#face { color: var(--ink); z-index: var(--layer-top); }'
    expect(problemsOf('web/ui/card.module.css', css)).toEqual([])
    expect(problemsOf('web/layout.tsx', '// Frame.\nexport const a = <a href="#main" />')).toEqual(
      [],
    )
  })

  it('finds a file without an introduction', () => {
    expect(problemsOf('server/stream/hls/plan.ts', 'export const a = 1\n')).toHaveLength(1)
    expect(problemsOf('server/main.ts', '#!/usr/bin/env node\n// The program.\n')).toEqual([])
  })

  it('finds a name that fits any file', () => {
    expect(problemsOf('server/site/http/utils.ts', '// Odds.\n')).toHaveLength(1)
    expect(problemsOf('server/site/http/time-helpers.ts', '// Ends.\n')).toHaveLength(1)
    expect(problemsOf('web/ui/commonplace.ts', '// Fine.\n')).toEqual([])
  })

  it.each([['test.only('], ['  test.describe.skip('], ['it.todo('], ['test.fixme(']])(
    'finds a skipped or exclusive test: %s',
    (begin) => {
      expect(problemsOf('web/browse.spec.ts', `// Browse.\n${begin}'x', run)\n`)).toHaveLength(1)
    },
  )

  it('finds lines that are too wide', () => {
    expect(problemsOf('server/stream/hls/plan.ts', `// ${'x'.repeat(98)}\n`)).toEqual([
      'server/stream/hls/plan.ts:1: 101 columns; at most 100',
    ])
  })

  it('finds a folder that the README does not name', () => {
    expect(problemsOf('attic/old.txt', '')).toEqual(['README.md: describe the folder `attic/`'])
  })

  it.each([
    ['a static import', "import { a } from '../a.ts'"],
    ['a type import', "import type { A } from '../a.ts'"],
    ['an import over several lines', "import {\n  a,\n} from '../a.ts'"],
    ['a re-export', "export { a } from '../a.ts'"],
    ['a dynamic import', "export const load = () => import('../a.ts')"],
  ])('finds an import cycle that %s closes', (_kind, code) => {
    const files = [
      { path: 'web/a.ts', text: "// A.\nexport const load = () => import('./inner/b.ts')\n" },
      { path: 'web/inner/b.ts', text: `// B.\n${code}\n` },
    ]
    expect(findProblems([readme, ...files])).toEqual([
      'web/a.ts > web/inner/b.ts > web/a.ts: import cycle',
    ])
  })

  it('allows two modules to import the same third one', () => {
    const files = [
      { path: 'web/a.ts', text: "// A.\nimport './b.ts'\nimport './c.ts'\n" },
      { path: 'web/b.ts', text: "// B.\nimport type { C } from './c.ts'\n" },
      { path: 'web/c.ts', text: '// C.\n' },
    ]
    expect(findProblems([readme, ...files])).toEqual([])
  })
})

describe('findPathsToNodeAv', () => {
  let folder = ''
  beforeAll(async () => {
    folder = makeTempFolder('imports')
    const write = (name: string, text: string) => writeFile(path.join(folder, name), text)
    await write('decoder-child.ts', "import { Decoder } from 'node-av/api'\n")
    await write(
      'clean.ts',
      "import type { Frame } from 'node-av/lib'\nfork('./decoder-child.ts')\n",
    )
    await write('direct.ts', "import {\n  a,\n  b,\n} from './clean.ts'\nimport './middle.ts'\n")
    await write('middle.ts', "export { Decoder } from './decoder-child.ts'\n")
    await write('later.ts', "export const load = () => import('./middle.ts')\n")
  })
  it('finds FFmpeg through several imports', () => {
    expect(findPathsToNodeAv(path.join(folder, 'direct.ts'))).toEqual([
      'direct.ts > middle.ts > decoder-child.ts > node-av/api',
    ])
  })

  it('finds FFmpeg through a dynamic import', () => {
    expect(findPathsToNodeAv(path.join(folder, 'later.ts'))).toHaveLength(1)
  })

  it('ignores type imports and child processes', () => {
    expect(findPathsToNodeAv(path.join(folder, 'clean.ts'))).toEqual([])
  })
})

describe('the configuration as text', () => {
  const options = [
    { key: 'a.b', kind: 'number', about: 'One | two.', environment: 'A_B', defaultValue: 8 },
    { key: 'c', kind: 'text', about: 'Three.', fallback: 'made once' },
  ] as const

  it('is a table with one row per key', () => {
    expect(formatConfigTable([...options]).split('\n')).toEqual([
      '| key   | environment | default   | what it is for |',
      '| ----- | ----------- | --------- | -------------- |',
      '| `a.b` | `A_B`       | `8`       | One \\| two.    |',
      '| `c`   |             | made once | Three.         |',
    ])
  })

  it('is one commented line per variable', () => {
    expect(formatEnvExample([...options])).toContain('# One | two.\n# A_B=8\n')
    expect(formatEnvExample([...options])).not.toContain('Three')
  })
})
