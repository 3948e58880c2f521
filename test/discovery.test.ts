// What search engines, chat apps and feed readers get of a site, read with their kind of tools.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import Validator from '@adobe/structured-data-validator'
import type { Issue } from '@adobe/structured-data-validator'
import WebAutoExtractor from '@marbec/web-auto-extractor'
import { parseRssFeed } from 'feedsmith'
import { imageSize } from 'image-size'
import openGraph from 'open-graph-scraper'
import { parseSitemap } from 'sitemap'
import { unfurl } from 'unfurl.js'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import {
  embedPagePath,
  playerPagePath,
  playlistApiPath,
  sessionsPagePath,
  streamerFeedPath,
  streamerThumbnailApiPath,
  thumbnailApiPath,
} from '../shared/paths.ts'
import type { SessionReference } from '../shared/paths.ts'
import { soon } from './support/patience.ts'
import { fetchPlaylist } from './support/servers/hls-client.ts'
import { rawRequest } from './support/servers/raw-request.ts'
import { startServer } from './support/servers/start-server.ts'
import type { StartedServer } from './support/servers/start-server.ts'
import { createTempLibrary, SMALL_FIXTURE } from './support/temp-library.ts'
import type { TempLibrary } from './support/temp-library.ts'
import { feedProblems } from './support/verify/check-feed.ts'
import { sitemapProblems } from './support/verify/check-sitemap.ts'
import { vocabularyProblems } from './support/verify/check-vocabulary.ts'

const DATE = '2026-01-31'
const HOSTILE = `"'><img src=x>&amp;\n<!--<script>\u0001`
/** More than one page of links has. */
const CROWD = 53
const SITE = 'Rerun & Co'
const CONTACT = 'https://site.example/contact?a=1&b=2'
const SELLERS = ['ads.example, pub-1, DIRECT, f08c47fec0942fa0', '# reseller']

let library: TempLibrary
let server: StartedServer

const titled: SessionReference = { streamer: 'alice', date: DATE, sessionId: 'titled' }
const live = { ...titled, sessionId: 'live' }
const hostile = { streamer: HOSTILE, date: DATE, sessionId: HOSTILE }
const silent = { ...titled, sessionId: 'unpictured' }

const info = {
  title: 'Late night <b>&amp;',
  game: 'Chess & <b>go</b>',
  description: 'All the\nquestions & "answers"',
  timestamp: Date.parse('2026-01-31T20:15:00Z') / 1000,
  chapters: [
    { start_time: 0, end_time: 4, title: 'Start' },
    { start_time: 4, end_time: 9, title: 'Questions </script>' },
  ],
}

beforeAll(async () => {
  library = await createTempLibrary('discovery')
  const placeAt = async ({ streamer, date, sessionId }: SessionReference, modified?: Date) =>
    library.place(`${streamer}/${date}/${sessionId}.mp4`, SMALL_FIXTURE, modified)
  for (const session of [titled, hostile]) await placeAt(session)
  await library.place(`alice/${DATE}/titled.info.json`, Buffer.from(JSON.stringify(info)))
  await library.place(`alice/${DATE}/unpictured.ts`, 'ts-ac3-51-audio-only.ts')
  const profile = { displayName: 'Alice A.', description: 'Plays at night' }
  await library.place('alice/streamer.json', Buffer.from(JSON.stringify(profile)))
  for (let id = 1; id <= CROWD; id += 1) {
    await placeAt({ streamer: 'Crowd', date: DATE, sessionId: String(id) })
  }
  const site = { name: SITE, contactUrl: CONTACT, adsTxt: SELLERS }
  const icon = readFileSync(path.resolve('web/public/icon-192.png'))
  await library.place(`alice/${DATE}/live.png`, icon)
  await placeAt(live, new Date())
  const settings = { site, library: { settleSeconds: 86_400 } }
  server = await startServer({ args: library.args, settings })
  for (const session of [titled, live, hostile, silent]) {
    await vi.waitFor(() => fetchPlaylist(server.url + playlistApiPath(session)), soon)
  }
  // A page does not wait for long for what is read from files.
  await waitForPage(playerPagePath(titled), 'All the questions')
  for (const session of [titled, live, hostile]) {
    await waitForPage(playerPagePath(session), 'og:image:width')
  }
  await waitForPage(playerPagePath(silent), 'icon-512.png')
  await waitForPage(sessionsPagePath('alice'), profile.description)
})

async function page(target: string): Promise<string> {
  return (await rawRequest(server.url, target)).body.toString()
}

async function waitForPage(target: string, text: string): Promise<void> {
  await vi.waitUntil(async () => (await page(target)).includes(text), soon)
}

const at = (target: string): string => server.url + target

describe('link previews', () => {
  it.each([
    ['the home page', '/', 'Streamers', '/icon-512.png'],
    ['a streamer', sessionsPagePath('alice'), 'Sessions: alice', streamerThumbnailApiPath('alice')],
    [
      'a session',
      playerPagePath(titled),
      'Late night <b>&amp; · alice - 2026-01-31 - titled',
      thumbnailApiPath(titled),
    ],
    [
      'a session with an image of its own',
      playerPagePath(live),
      'alice - 2026-01-31 - live',
      thumbnailApiPath(live),
    ],
    [
      'a session without video',
      playerPagePath(silent),
      'alice - 2026-01-31 - unpictured',
      '/icon-512.png',
    ],
  ])('of %s: title, text, address, and an image of its size', async (...row) => {
    const [, target, title, image] = row
    const response = await fetch(at(image))
    expect(response.status).toBe(200)
    const { width, height } = imageSize(new Uint8Array(await response.arrayBuffer()))
    const { result, error } = await openGraph({ html: await page(target) })
    expect(error).toBe(false)
    expect(result).toMatchObject({
      ogTitle: title,
      twitterTitle: title,
      ogUrl: at(target),
      ogSiteName: SITE,
      ogImage: [{ url: at(image), width: String(width), height: String(height) }],
      twitterImage: [{ url: at(image), alt: title }],
    })
    expect(result.ogDescription).toBe(result.twitterDescription)
    expect(result.ogDescription?.length).toBeGreaterThan(10)
  })

  it('of a session: a large image, the embedded player and its length', async () => {
    const { open_graph: graph, twitter_card: card } = await unfurl(at(playerPagePath(titled)))
    expect(graph).toMatchObject({
      type: 'video.other',
      description: 'All the questions & "answers"',
    })
    expect(graph.videos).toMatchObject([{ url: at(embedPagePath(titled)), type: 'text/html' }])
    expect(card).toMatchObject({ card: 'summary_large_image' })
    expect(await page(playerPagePath(titled))).toMatch(
      /"video:duration" content="\d+">\s+<meta property="video:release_date" content="2026-01-31T/,
    )
  })

  it('contain a hostile name as text', async () => {
    const html = await page(playerPagePath(hostile))
    expect(html).not.toContain('<img')
    const { result } = await openGraph({ html })
    expect(result.ogTitle).toContain(HOSTILE.replace('\n', '').slice(0, 10))
    expect(structuredIn(html)[0]).toMatchObject({ name: expect.stringContaining(HOSTILE) })
  })

  it('name the site in titles and the manifest, and link its contact', async () => {
    const html = await page('/')
    expect(html).toContain('<title>Streamers · Rerun &amp; Co</title>')
    expect(html).toContain(
      '<a href="https://site.example/contact?a=1&amp;b=2">Contact</a>\n      <label>',
    )
    for (const tag of ['theme-color', 'rel="icon"', 'rel="apple-touch-icon"', 'rel="manifest"']) {
      expect(html).toContain(tag)
    }
    expect(JSON.parse(await page('/manifest.webmanifest'))).toMatchObject({ name: SITE })
    expect(JSON.parse(await page('/api/config'))).toMatchObject({
      site: { name: SITE, contactUrl: CONTACT },
    })
  })
})

/** Of search engines that ignore all other data. */
const jsonLd = z.looseObject({ '@type': z.string() })

function structuredIn(html: string): z.infer<typeof jsonLd>[] {
  const scripts = html.matchAll(/<script type="application\/ld\+json">(?<json>.*?)<\/script>/gs)
  return [...scripts].map(({ groups }) => jsonLd.parse(JSON.parse(groups?.['json'] ?? '')))
}

describe('structured data', () => {
  const targets = [
    '/',
    sessionsPagePath('alice'),
    sessionsPagePath('Crowd'),
    ...[titled, live, hostile, silent].map(playerPagePath),
  ]

  it('has what the documentation of Google requires', async () => {
    const errors: Issue[] = []
    const types = new Set<string>()
    for (const target of targets) {
      const data = new WebAutoExtractor().parse(await page(target))
      expect(data.errors).toEqual([])
      for (const type of Object.keys(data.jsonld)) types.add(type)
      const issues = await new Validator().validate(data)
      errors.push(...issues.filter(({ severity }) => severity === 'ERROR'))
    }
    expect(errors).toEqual([])
    expect([...types].toSorted()).toEqual(['BreadcrumbList', 'ItemList', 'VideoObject', 'WebSite'])
  })

  it('uses only types and properties of the vocabulary of schema.org', async () => {
    const values = (await Promise.all(targets.map(page))).flatMap(structuredIn)
    expect(values.length).toBeGreaterThan(10)
    // The last one has another property: the check itself.
    const problems = await vocabularyProblems([...values, { ...values[0], lenght: 1 }])
    expect(problems.match(/^data\.ts\(\d+/gm)).toEqual([`data.ts(${values.length + 2}`])
    expect(problems).toContain('lenght')
  })

  it('of a session: time with zone, length, player and chapters, but no file', async () => {
    const [video, breadcrumbs] = structuredIn(await page(playerPagePath(titled)))
    expect(video).toMatchObject({
      '@type': 'VideoObject',
      name: 'Late night <b>&amp; · alice - 2026-01-31 - titled',
      description: info.description,
      keywords: info.game,
      uploadDate: '2026-01-31T20:15:00Z',
      duration: expect.stringMatching(/^PT\d+S$/),
      embedUrl: at(embedPagePath(titled)),
      thumbnailUrl: at(thumbnailApiPath(titled)),
      hasPart: [
        { name: 'Start', startOffset: 0, endOffset: 4, url: `${at(playerPagePath(titled))}?t=0` },
        { name: 'Questions </script>', url: `${at(playerPagePath(titled))}?t=4` },
      ],
    })
    expect(video).not.toHaveProperty('contentUrl')
    expect(video).not.toHaveProperty('publication')
    expect(breadcrumbs).toMatchObject({
      itemListElement: [
        { position: 1, name: SITE, item: at('/') },
        { position: 2, name: 'alice', item: at(sessionsPagePath('alice')) },
        { position: 3, item: at(playerPagePath(titled)) },
      ],
    })
  })

  it('of a growing session: a broadcast', async () => {
    const [video] = structuredIn(await page(playerPagePath(live)))
    expect(video).not.toHaveProperty('keywords')
    expect(video).toMatchObject({
      uploadDate: `${DATE}T00:00:00Z`,
      publication: { '@type': 'BroadcastEvent', isLiveBroadcast: true },
    })
  })
})

const itemList = z.looseObject({
  numberOfItems: z.literal(CROWD),
  itemListElement: z.array(z.looseObject({ position: z.number() })),
})

describe('pages of lists', () => {
  const hrefs = (html: string): string[] =>
    [...html.matchAll(/<a href="(?<href>[^"]+)"/g)].map(({ groups }) => groups?.['href'] ?? '')

  it('link all sessions without JavaScript', async () => {
    const first = await page(sessionsPagePath('Crowd'))
    const second = await page(`${sessionsPagePath('Crowd')}?page=2`)
    const sessions = [...hrefs(first), ...hrefs(second)].filter((href) => href.startsWith('/p/'))
    expect(new Set(sessions).size).toBe(CROWD)
    expect(sessions).toHaveLength(CROWD)
    expect(hrefs(first)).toContain('/s/Crowd?page=2')
    expect(hrefs(second)).toContain('/s/Crowd')
    expect(second).toContain(`<link rel="canonical" href="${at('/s/Crowd?page=2')}">`)
    expect(second).toContain('<title>Sessions: Crowd - page 2 · ')
    const lists = [first, second].map((html) =>
      structuredIn(html).find((data) => data['@type'] === 'ItemList'),
    )
    const positions = lists.map((list) => itemList.parse(list).itemListElement)
    expect(positions.flat().map(({ position }) => position)).toEqual(
      Array.from({ length: CROWD }, (_, i) => i + 1),
    )
    expect(hrefs(await page('/'))).toContain(sessionsPagePath('alice'))
    expect(await page(sessionsPagePath('alice'))).toContain('Late night &lt;b&gt;&amp;amp; · 2026')
  })

  it.each([
    ['/s/Crowd?page=3', 404],
    ['/?page=2', 404],
    ['/s/Crowd?page=0', 200],
    ['/s/Crowd?page=x&page=y', 200],
    ['/s/nobody?page=1', 404],
    ['/p/alice/2026-01-31/absent', 404],
    ['/embedded', 404],
    ['/s', 404],
  ])('%s: %i', async (target, status) => {
    expect((await rawRequest(server.url, target)).status).toBe(status)
  })
})

describe('pages of sessions', () => {
  it('contain the video without JavaScript, if it plays', async () => {
    const sources = (html: string): string[] =>
      [...html.matchAll(/<video [^>]*src="(?<src>[^"]+)"/g)].map(({ groups }) => groups?.src ?? '')
    expect(sources(await page(playerPagePath(titled)))).toEqual([playlistApiPath(titled)])
    expect(await fetchPlaylist(at(playlistApiPath(titled)))).toHaveProperty('isEnded', true)
    const { headers } = await fetch(at(playerPagePath(titled)))
    expect(headers.get('content-security-policy')).toContain("media-src 'self'")
    const absent = await fetch(at(playerPagePath({ ...titled, sessionId: 'absent' })))
    expect(sources(await absent.text())).toEqual([])
  })
})

describe('feeds', () => {
  const media = (session: SessionReference) => at(thumbnailApiPath(session))

  it('of a streamer: title, link, guid, date and thumbnail of each session', async () => {
    const { body, headers } = await rawRequest(server.url, streamerFeedPath('alice'))
    expect(headers['content-type']).toBe('application/rss+xml; charset=utf-8')
    const feed = parseRssFeed(body.toString())
    expect(feed).toMatchObject({
      title: `alice · ${SITE}`,
      link: at(sessionsPagePath('alice')),
      atom: { links: [{ href: at(streamerFeedPath('alice')), rel: 'self' }] },
    })
    expect(feed.items).toHaveLength(3)
    expect(feed.items?.find(({ link }) => link === at(playerPagePath(titled)))).toMatchObject({
      title: 'Late night <b>&amp; · alice - 2026-01-31 - titled',
      guid: { value: at(playerPagePath(titled)), isPermaLink: true },
      pubDate: 'Sat, 31 Jan 2026 20:15:00 GMT',
      media: { thumbnails: [{ url: media(titled) }] },
      categories: [{ name: info.game }],
    })
    expect(feed.items?.filter(({ categories }) => categories !== undefined)).toHaveLength(1)
    for (const item of feed.items ?? []) {
      const image = await rawRequest(server.url, new URL(item.link ?? '').pathname)
      expect(image.status).toBe(200)
    }
  })

  it('of the site: the newest sessions of all streamers', async () => {
    const { items = [], title } = parseRssFeed(await page('/feed.xml'))
    expect(title).toBe(SITE)
    expect(items).toHaveLength(50)
    // The newest file comes first; all dates are equal.
    expect(items[0]?.link).toBe(at(playerPagePath(live)))
    expect(new Set(items.map(({ guid }) => guid?.value)).size).toBe(50)
  })

  it.each(['/feed.xml', streamerFeedPath('alice'), streamerFeedPath(HOSTILE)])(
    '%s: follows the rules of the feed validator of the W3C',
    async (target) => {
      const text = await page(target)
      expect(feedProblems(text, at(target))).toEqual([])
      expect(text).not.toContain('<img')
    },
  )

  it('are linked from the pages, cached as lists are, and only of known streamers', async () => {
    const links = /<link rel="alternate" type="application\/rss\+xml" href="(?<href>[^"]+)"/g
    const hrefs = async (target: string) =>
      [...(await page(target)).matchAll(links)].map(({ groups }) => groups?.['href'])
    const ofAlice = [at(streamerFeedPath('alice')), at('/feed.xml')]
    expect(await hrefs('/')).toEqual([at('/feed.xml')])
    expect(await hrefs(sessionsPagePath('alice'))).toEqual(ofAlice)
    expect(await hrefs(playerPagePath(titled))).toEqual(ofAlice)
    for (const target of ['/feed.xml', streamerFeedPath('alice')]) {
      const { headers } = await rawRequest(server.url, target)
      expect(headers['cache-control']).toBe('no-cache')
      const condition = { headers: { 'if-none-match': headers.etag ?? '' } }
      expect((await rawRequest(server.url, target, condition)).status).toBe(304)
      const packed = await rawRequest(server.url, target, { headers: { 'accept-encoding': 'br' } })
      expect(packed.headers['content-encoding']).toBe('br')
    }
    expect((await rawRequest(server.url, streamerFeedPath('nobody'))).status).toBe(404)
  })
})

describe('the sitemap', () => {
  it('is valid by its schemas, with all videos', async () => {
    const text = await page('/sitemap.xml')
    expect(await sitemapProblems(text)).toEqual([])
    expect(await sitemapProblems(text.replace('<video:player_loc>', '<video:player>'))).not.toEqual(
      [],
    )
    const pages = await parseSitemap(Readable.from([text]))
    const sessions = pages.filter(({ video }) => video.length > 0)
    expect(sessions.length).toBeGreaterThan(5)
    expect(pages.find(({ url }) => url === at(playerPagePath(titled)))?.video).toMatchObject([
      {
        title: 'Late night <b>&amp; · alice - 2026-01-31 - titled',
        thumbnail_loc: at(thumbnailApiPath(titled)),
        player_loc: at(embedPagePath(titled)),
        publication_date: '2026-01-31T20:15:00Z',
      },
    ])
  })
})

describe('ads.txt', () => {
  it.each(['/ads.txt', '/app-ads.txt'])('%s: has the configured lines', async (target) => {
    const { status, headers, body } = await rawRequest(server.url, target)
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(body.toString()).toBe(`${SELLERS.join('\n')}\n`)
  })
})
