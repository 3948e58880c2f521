// Planted violations of the rules for documents.
import { describe, expect, it } from 'vitest'
import {
  findDecisionProblems,
  findMissingReferences,
  findReadmeProblems,
} from './document-rules.ts'

const existing = { path: 'docs/a.md', text: '# A\n' }
const decision = {
  path: 'decisions/001-a.md',
  text: '# 001 A\n\nDate: 2026-11-21. Status: accepted.\n\n## Rejected\n\n- B: slow.\n',
}
const list = { path: 'decisions/README.md', text: '[001](001-a.md)\n' }

function missingIn(path: string, text: string): string[] {
  return findMissingReferences([existing, decision, { path, text }])
}

describe('findMissingReferences', () => {
  it.each([
    ['README.md', 'See `server/old.ts`.', 'server/old.ts'],
    ['docs/b.md', '[b](../docs/old.md#part)', 'docs/old.md'],
    ['docs/b.md', 'See OTHER.md.', 'OTHER.md'],
    ['server/a.ts', '// As in decisions/009.', 'decisions/009'],
    ['server/a.ts', '/**\n * As docs/old.md requires.\n */', 'docs/old.md'],
    ['server/a.ts', 'const a = 1 // the layers of DESIGN', 'DESIGN'],
  ])('finds in %s: %s', (path, text, name) => {
    expect(missingIn(path, text)).toEqual([
      expect.stringMatching(new RegExp(`^${path}:\\d: ${name} is not in the repository$`)),
    ])
  })

  it('accepts files of the repository, and ignores code', () => {
    expect(missingIn('README.md', 'docs/a.md, [a](docs/a.md#b), decisions/001-a.md')).toEqual([])
    expect(missingIn('server/a.ts', "// decisions/001\nread('docs/old.md')\n")).toEqual([])
  })
})

describe('findDecisionProblems', () => {
  const { path, text } = decision

  it.each([
    [{ path: 'decisions/002-a.md', text: text.replace('001', '002') }, 'expected number 1'],
    [{ path, text: text.replace('# 001', '# 1') }, 'begin with'],
    [{ path, text: text.replace('Date: 2026-11-21', 'Decided') }, 'add "Date'],
    [{ path, text: text.replace('accepted', 'done') }, 'add "Date'],
    [{ path, text: text.replace('## Rejected', '## Others') }, 'add "## Rejected"'],
    [{ path: 'decisions/001-b.md', text }, 'add it to decisions/README.md'],
  ])('finds a page in another form: %j', (page, problem) => {
    expect(findDecisionProblems([page, list]).join('\n')).toContain(problem)
  })

  it('accepts a complete page', () => {
    expect(findDecisionProblems([decision, list])).toEqual([])
  })
})

describe('findReadmeProblems', () => {
  const eleven = Array.from({ length: 11 }, (_, at) => ({ path: `web/ui/${at}.ts`, text: '' }))
  const tests = Array.from({ length: 11 }, (_, at) => ({ path: `web/api/${at}.test.ts`, text: '' }))

  it('finds a folder with many files and without a README', () => {
    expect(findReadmeProblems([...eleven, ...tests])).toEqual([
      'web/ui: add a README: how do its 11 files work together?',
    ])
    expect(findReadmeProblems(eleven.slice(1))).toEqual([])
  })

  it.each([
    ['web/ui/README.md', '# ui\n'],
    ['web/README.md', 'The components are in `ui/`.\n'],
  ])('accepts a description in %s', (path, text) => {
    expect(findReadmeProblems([...eleven, { path, text }])).toEqual([])
  })

  it('finds a file that a README names and that does not exist', () => {
    const text = '`1.ts`, `ui/2.ts`, `../ui/3.ts`, `old.ts`, `api/4.ts`\n'
    expect(findReadmeProblems([...eleven, { path: 'web/ui/README.md', text }])).toEqual([
      'web/ui/README.md: old.ts is not in the repository',
      'web/ui/README.md: api/4.ts is not in the repository',
    ])
  })
})
