// The table of spec-map.md names tests that exist, and sections of docs/behaviour.md.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

const root = path.dirname(import.meta.dirname)
const table = readFileSync(path.join(import.meta.dirname, 'spec-map.md'), 'utf8')
const behaviour = readFileSync(path.join(root, 'docs/behaviour.md'), 'utf8')
const row = /^\| (?<section>\d(?:\.\d)?) .+? +\| `(?<file>[^`]+)`: (?<title>.+?) +\|$/gm
const rows = [...table.matchAll(row)]

describe('spec-map.md', () => {
  it('has rows for every section from 1 to 7, and names sections that exist', () => {
    const sections = rows.map(({ groups }) => groups?.['section'] ?? '')
    expect([...new Set(sections.map(([major]) => major))].join('')).toBe('1234567')
    const headings = [...behaviour.matchAll(/^#{2,3} (?<number>[\d.]+) /gm)].map(
      ({ groups }) => groups?.['number'],
    )
    expect(sections.filter((section) => !headings.includes(section))).toEqual([])
    expect(rows).toHaveLength(table.match(/^\| \d/gm)?.length ?? 0)
    expect(rows.length).toBeGreaterThan(40)
  })

  it('refers to an existing test in every row', () => {
    const missing = rows.filter(({ groups: { file = '', title = '' } = {} }) => {
      const text = readFileSync(path.join(root, file), 'utf8')
      return !/(?:test|it)\(/.test(text) || !text.includes(title)
    })
    expect(missing.map(([row]) => row)).toEqual([])
  })
})
