// The table of spec-map.md refers to existing tests.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

const root = path.dirname(import.meta.dirname)
const table = readFileSync(path.join(import.meta.dirname, 'spec-map.md'), 'utf8')
const rows = [...table.matchAll(/^\| (?<line>\d .+?) +\| `(?<file>[^`]+)`: (?<title>.+?) +\|$/gm)]

describe('spec-map.md', () => {
  it('has rows for every section from 2 to 9', () => {
    const sections = new Set(rows.map(({ groups }) => groups?.line?.[0]))
    expect([...sections].join('')).toBe('23456789')
  })

  it('refers to an existing test in every row', () => {
    const missing = rows.filter(({ groups: { file = '', title = '' } = {} }) => {
      const text = readFileSync(path.join(root, file), 'utf8')
      return !/(?:test|it)\(/.test(text) || !text.includes(title)
    })
    expect(missing.map(([row]) => row)).toEqual([])
  })
})
