import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { formatPage, parsePageShell } from './page-shell.ts'
import type { PageHead } from './page-shell.ts'

const html = `<!doctype html><html><head><!--head--><title>Aftercast</title><!--/head-->
<script type="module" crossorigin src="/assets/a.js"></script>
<link rel="stylesheet" crossorigin href="/assets/a.css"></head><body></body></html>`
const head: PageHead = {
  title: 'Sessions: a',
  description: 'd',
  canonicalUrl: 'http://site.example/s/a',
  openGraphType: 'website',
  preloads: [],
  hasBanners: false,
}

describe('parsePageShell', () => {
  it('inlines the styles and returns their hashes', () => {
    const shell = parsePageShell(html, () => 'body{margin:0}')
    expect(formatPage(shell, head)).toContain('<style>body{margin:0}</style>')
    const hash = createHash('sha256').update('body{margin:0}').digest('base64')
    expect(shell.styleHashes).toEqual([`'sha256-${hash}'`])
  })

  it('rejects a shell without a marked head', () => {
    expect(() => parsePageShell('<html></html>', () => '')).toThrow('no marked head')
  })
})

describe('formatPage', () => {
  const shell = parsePageShell(html, () => '')

  it('escapes names in attributes, in the title and in data', () => {
    const name = `</title></script><script>alert("1")</script>"'<img src=x onerror=alert(1)>`
    const page = formatPage(shell, {
      ...head,
      title: name,
      description: name,
      structuredData: { name },
      preloads: [{ kind: 'fetch', path: `/api/${name}` }],
    })
    expect(page).not.toContain('<img')
    expect(page).not.toContain('<script>alert')
    expect(page.match(/<\/script>/g)).toHaveLength(2)
    expect(page.match(/<\/title>/g)).toHaveLength(1)
  })

  it('marks pages with banners', () => {
    const mark = '<meta name="banner-slots" content="reserved">'
    expect(formatPage(shell, { ...head, hasBanners: true })).toContain(mark)
    expect(formatPage(shell, head)).not.toContain('banner-slots')
  })

  it('does not interpret replacement patterns in a name', () => {
    expect(formatPage(shell, { ...head, title: '$& $1 $$' })).toContain(
      '<title>$&amp; $1 $$</title>',
    )
  })
})
