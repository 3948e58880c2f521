import { describe, expect, it } from 'vitest'
import { findWideLines } from './line-width.ts'

describe('findWideLines', () => {
  const wide = `${'word '.repeat(20)}word`

  it('finds a line over 100 columns in code and in prose', () => {
    for (const path of ['server/a.ts', 'web/a.css', 'docs/a.md']) {
      expect(findWideLines({ path, text: `\n${wide}\n` })).toEqual([
        `${path}:2: 104 columns; at most 100`,
      ])
    }
    expect(findWideLines({ path: 'a.ts', text: 'x'.repeat(100) })).toEqual([])
  })

  it('accepts the content of template literals and the expected strings of tests', () => {
    expect(findWideLines({ path: 'a.ts', text: `  '${wide}',\n` })).toHaveLength(1)
    expect(findWideLines({ path: 'a.test.ts', text: `  '${wide}',\n` })).toEqual([])
    expect(findWideLines({ path: 'a.test.ts', text: `it('${wide}', () => {\n` })).toHaveLength(1)
    expect(findWideLines({ path: 'a.ts', text: `a(\`\n${wide}\n${wide}\`)\n` })).toEqual([])
    expect(findWideLines({ path: 'a.ts', text: `a(\`${wide}\`)\n` })).toHaveLength(1)
    expect(findWideLines({ path: 'a.ts', text: `a(\`\nb\n\`) // ${wide}\n` })).toHaveLength(1)
  })

  it('accepts tables, links and long addresses', () => {
    expect(findWideLines({ path: 'a.md', text: `| ${wide} |` })).toEqual([])
    expect(findWideLines({ path: 'a.md', text: `[a](b) ${wide}` })).toEqual([])
    const address = `https://example.com/${'x'.repeat(90)}`
    expect(findWideLines({ path: 'a.ts', text: `// ${address}` })).toEqual([])
  })
})
