// Planted violations of the rules for commands in documents.
import { describe, expect, it } from 'vitest'
import { findCommandProblems, listShellBlocks } from './shell-blocks.ts'

const manifest = {
  path: 'package.json',
  text: '{ "version": "1.2.3", "scripts": { "image": "node image.ts" } }',
}
const block = (before: string, language = 'sh'): string =>
  `${before}\n\n\`\`\`${language}\nnpm start\n\`\`\`\n`

function problemsIn(path: string, text: string): string[] {
  return findCommandProblems([manifest, { path, text }])
}

describe('listShellBlocks', () => {
  it('lists commands, what runs them, and why nothing does', () => {
    const indented = '1. A step:\n\n   ```sh\n   npm start \\\n     --now\n   ```\n'
    const text = [
      block('Text.'),
      block('<!-- run by: npm run image -->'),
      block('<!-- not run: a reason -->'),
      block('<!-- not run: a reason -->', 'json'),
      indented,
    ].join('\n')
    expect(listShellBlocks(text)).toEqual([
      { line: 3, commands: 'npm start' },
      { line: 9, commands: 'npm start', runBy: 'npm run image' },
      { line: 15, commands: 'npm start', notRun: 'a reason' },
      { line: 27, commands: 'npm start \\\n  --now' },
    ])
  })
})

describe('findCommandProblems', () => {
  it.each([
    ['a mark without a reason', block('<!-- not run: -->'), 'write <!-- not run: the reason -->'],
    ['a mark of another form', block('<!-- not run, a reason -->'), 'write <!-- not run:'],
    ['another script', block('<!-- run by: npm test -->'), 'only npm run image runs blocks'],
    ['another shell', block('Text.', 'bash'), 'begin the block with ```sh'],
    ['capital letters', block('Text.', 'SH'), 'begin the block with ```sh'],
    ['commands without a language', block('Text.', ''), 'begin the block with ```sh'],
    ['a space before a language', block('Text.', ' bash'), 'begin the block with ```sh'],
    ['a fence of tildes', 'Text.\n\n~~~sh\nnpm start\n~~~\n', 'on a line of its own'],
    ['a fence in an item', '- ```sh\n  npm start\n  ```\n', 'on a line of its own'],
    ['a fence after a tab', '1. Step:\n\n\t```bash\n\tnpm start\n\t```\n', 'on a line of its own'],
    ['a fence in a quote', '> ```sh\n> npm start\n> ```\n', 'on a line of its own'],
    ['a fence in a list', '1. Step:\n\n   ```bash\n   npm start\n   ```\n', 'with ```sh'],
    [
      'a fence after one with a longer end',
      `\`\`\`json\n{}\n\`\`\`\`\n\n${block('Text.', 'bash')}`,
      'begin the block with ```sh',
    ],
    ['a missing script', 'Run `npm run imag`.', 'npm run imag is not in package.json'],
    ['npx', '`npx --package aftercast aftercast serve`', 'no package aftercast on a registry'],
    ['the registry', 'npm install --global node@24 aftercast node-av@6', 'no package aftercast'],
    ['another tarball', 'npm install ./aftercast-1.2.2.tgz', 'the tarball of 1.2.2 is not that'],
  ])('finds %s', (_what, text, problem) => {
    expect(problemsIn('docs/a.md', text)).toEqual([expect.stringContaining(problem)])
  })

  it('finds commands in scripts and messages', () => {
    expect(problemsIn('docs/a.sh', "fail 'npm install --global aftercast'")).toHaveLength(1)
    expect(problemsIn('server/a.ts', 'log(`npx aftercast hide ${name}`)')).toHaveLength(1)
  })

  it.each([
    block('<!-- not run: a reason -->'),
    block('<!-- run by: npm run image -->'),
    block('Text.'),
    block('Text.', 'json'),
    '`npm run --silent image -- --keep DIR`, `npm install --global node-av@6 ./aftercast-1.2.3.tgz`',
    'After `npm install`, `aftercast` is a command: npm start serves, aftercast hides.',
  ])('accepts %j', (text) => {
    expect(problemsIn('docs/a.md', text)).toEqual([])
  })
})
