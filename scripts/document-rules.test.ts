// Planted violations of the rules for documents.
import { describe, expect, it } from 'vitest'
import { findDecisionProblems, findMissingReferences } from './document-rules.ts'

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
