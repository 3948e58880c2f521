import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { formatPage, parsePageShell } from './page-shell.ts'
import type { PageHead } from './page-head.ts'

const html = `<!doctype html><html><head><!--head--><title>Aftercast</title><!--/head-->
<script type="module" crossorigin src="/assets/a.js"></script>
<link rel="stylesheet" crossorigin href="/assets/a.css"></head><body>
<noscript><!--links-->none<!--/links--></noscript>
<p><!--name-->Aftercast<!--/name--></p>
<div><!--poster--><!--/poster--></div>
<footer><!--contact--><!--/contact--></footer></body></html>`
const site = { name: 'My site', basePath: '' }
const head: PageHead = {
  title: 'Sessions: a',
  description: 'd',
  canonicalUrl: 'http://site.example/s/a',
  image: { url: 'http://site.example/a.png', card: 'summary' },
  openGraph: { type: 'website' },
  alternates: [],
  preloads: [],
  hasBanners: false,
  structuredData: [],
}

describe('parsePageShell', () => {
  it('inlines the styles and returns their hashes', () => {
    const shell = parsePageShell(html, () => 'body{margin:0}')
    expect(formatPage(shell, site, { head })).toContain('<style>body{margin:0}</style>')
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
    const hostile: PageHead = {
      ...head,
      title: name,
      description: name,
      structuredData: [{ name }],
      alternates: [{ type: 'application/rss+xml', title: name, href: `/feed/${name}` }],
      preloads: [{ kind: 'fetch', path: `/api/${name}` }],
    }
    const links = { heading: name, items: [{ path: name, text: name }], others: [] }
    const owner = { name, basePath: '/tv', contactUrl: `https://a.example/${name}` }
    const content = { head: hostile, links, posterPath: '/">', playlistPath: `/${name}` }
    const page = formatPage(shell, owner, content)
    expect(page).not.toContain('<img')
    expect(page).toContain('<image href="/tv/&quot;&gt;" ')
    expect(page).not.toContain('<script>alert')
    expect(page.match(/<\/script>/g)).toHaveLength(2)
    expect(page.match(/<\/title>/g)).toHaveLength(1)
  })

  it('marks pages with banners', () => {
    const mark = '<meta name="banner-slots" content="reserved">'
    expect(formatPage(shell, site, { head: { ...head, hasBanners: true } })).toContain(mark)
    expect(formatPage(shell, site, { head })).not.toContain('banner-slots')
  })

  it('does not interpret replacement patterns in a name', () => {
    expect(formatPage(shell, site, { head: { ...head, title: '$& $1 $$' } })).toContain(
      '<title>$&amp; $1 $$ · My site</title>',
    )
  })

  it('has the name of the site where the page is painted before its script', () => {
    const page = formatPage(shell, { ...site, name: 'a < b' }, { head })
    expect(page).toContain('<p>a &lt; b</p>')
  })

  it('links the contact of the site in the footer, if there is one', () => {
    expect(formatPage(shell, site, { head })).toContain('<footer></footer>')
    const contactUrl = 'mailto:a@site.example?subject=a&body=b'
    expect(formatPage(shell, { ...site, contactUrl }, { head })).toContain(
      '<footer><a href="mailto:a@site.example?subject=a&amp;body=b">Contact</a></footer>',
    )
  })

  it('has plain links for crawlers and visitors without JavaScript', () => {
    const toAlice = { path: '/s/alice', text: 'alice' }
    const toNext = { path: '/?page=2', text: 'Page 2 of 2' }
    const links = { heading: 'Streamers', items: [toAlice], others: [toNext] }
    const page = formatPage(shell, site, { head, links })
    expect(page).toContain('<li><a href="/s/alice">alice</a></li>')
    expect(page).toContain('<a href="/?page=2">Page 2 of 2</a>')
    expect(page).toContain('My site needs JavaScript')
  })

  it('has a video for browsers without JavaScript, which loads nothing by itself', () => {
    const links = { heading: 'a', items: [], others: [] }
    const content = { head, links, playlistPath: '/api/"1".m3u8', posterPath: '/api/1?a=1&b' }
    const page = formatPage(shell, { ...site, basePath: '/tv' }, content)
    expect(/<noscript>(?<inside>[^]*)<\/noscript>/.exec(page)?.groups?.['inside']).toContain(
      '<h1>a</h1>\n<video controls preload="none" src="/tv/api/&quot;1&quot;.m3u8"' +
        ' poster="/tv/api/1?a=1&amp;b"></video>',
    )
    expect(formatPage(shell, site, { head, links })).not.toContain('<video')
  })
})
