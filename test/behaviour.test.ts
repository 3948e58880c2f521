// The table in docs/behaviour.md lists every section and every suite of this folder.
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

const root = path.dirname(import.meta.dirname)
const document = readFileSync(path.join(root, 'docs/behaviour.md'), 'utf8')
const sections = [...document.matchAll(/^#{2,3} (?<number>\d+(?:\.\d+)?) (?<title>.+)$/gm)].map(
  ({ groups }) => `${groups?.['number']} ${groups?.['title']}`,
)
const table = document.slice(document.indexOf('## Tests'))
const rows = [...table.matchAll(/^\| (?<section>\d[^|]*?) +\| (?<suites>`[^|]+`) +\|$/gm)].map(
  ({ groups }) => ({
    section: groups?.['section'] ?? '',
    suites: [...(groups?.['suites'] ?? '').matchAll(/`([^`]+)`/g)].map(([, file = '']) => file),
  }),
)

describe('docs/behaviour.md', () => {
  it('has a row for every section, except for a section that only groups others', () => {
    const isGroup = (section: string) =>
      sections.some((other) => other.startsWith(`${section.split(' ', 1)[0]}.`))
    const listed = rows.map(({ section }) => section)
    expect(sections.filter((section) => !listed.includes(section) && !isGroup(section))).toEqual([])
    expect(listed.filter((section) => !sections.includes(section))).toEqual([])
    expect(listed.length).toBeGreaterThan(30)
  })

  it('lists suites that exist', () => {
    const files = rows.flatMap(({ suites }) => suites)
    expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
  })

  it('lists every suite of test/', () => {
    const suites = globSync('test/**/*.{test,spec}.ts', { cwd: root })
    expect(suites.filter((suite) => !table.includes(`\`${suite}\``))).toEqual([])
    expect(suites.length).toBeGreaterThan(30)
  })
})
