import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ActivityEvent } from '../../../shared/contract.ts'
import { admitAll } from '../http/add-endpoints.ts'
import { loadConfig } from '../../base/config/load-config.ts'
import { Gate } from '../../base/admission/gate.ts'
import { isAppError } from '../../base/errors.ts'
import { adsConfigOf, adUrlsOf } from './ads-config.ts'
import { openAdvertising } from './advertising.ts'
import type { FormatPath } from './house/promo-paths.ts'
import { parseCreatives } from './house/creatives.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

let folder = ''
beforeAll(async () => {
  folder = makeTempFolder('ads')
})
const apps: FastifyInstance[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close()
})

const atRoot: FormatPath = (sitePath) => sitePath

function configOf(ads: object, data = path.join(folder, 'none')) {
  const file = { path: path.join(folder, 'aftercast.config.json'), value: { data, ads } }
  const none = { flags: {}, environment: {}, workingFolder: folder, cpuCount: 1 }
  return loadConfig({ ...none, file })
}

/** Advertising on a server of its own, with what it recorded and logged. */
async function start(
  ads: object = { provider: 'house' },
  data?: string,
  formatPath: FormatPath = atRoot,
) {
  const recorded: ActivityEvent[] = []
  const files = new Gate({ limit: 1, waiting: 0, busyMessage: 'full' })
  const logged: string[] = []
  const advertising = await openAdvertising({
    config: configOf(ads, data),
    record: (event) => recorded.push(event),
    formatPath,
    admitFiles: (scope) => admitAll(scope, files),
    log: { warn: (facts, message) => logged.push(`${message} ${JSON.stringify(facts)}`) },
  })
  const app = Fastify()
  app.setErrorHandler(async (error, _request, reply) =>
    reply
      .code(isAppError(error, 'not_found') ? 404 : isAppError(error, 'busy') ? 503 : 400)
      .send({}),
  )
  await advertising.addRoutes(app)
  apps.push(app)
  return { app, recorded, logged, ads: advertising.ads, files }
}

/** An operator's own house ads: an image, and a page. */
async function layOutOwnAds(name: string, creatives: object[]): Promise<string> {
  const data = path.join(folder, name)
  const own = path.join(data, 'house-ads')
  await mkdir(own, { recursive: true })
  await writeFile(path.join(own, 'creatives.json'), JSON.stringify({ creatives }))
  await writeFile(path.join(own, 'a.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  await writeFile(path.join(own, 'b.html'), '<a href="{click}">b</a>')
  return data
}
const image = {
  id: 'a',
  kind: 'image',
  file: 'a.svg',
  alt: '"A" & <b>',
  link: 'https://a.example/?x=1',
}
const page = { id: 'b', kind: 'page', file: 'b.html', alt: 'B', link: '/' }

describe('adsConfigOf', () => {
  it('reports no slots without advertising', () => {
    expect(
      adsConfigOf(configOf({ provider: 'none', vastUrl: 'https://v.example/{zone}' }), atRoot),
    ).toEqual({
      provider: 'none',
    })
  })

  it('points at this server for house ads, with zones of their own unless they are named', () => {
    expect(adsConfigOf(configOf({ provider: 'house', zones: { inline: '7' } }), atRoot)).toEqual({
      provider: 'house',
      scriptPath: '/api/proxy-ad/house/ad-provider.js',
      insClass: 'promo-ins',
      vastUrl: '/api/promo/vast?zone={zone}',
      zones: { banner: 'banner', inline: '7', video: 'video' },
      fill: 'frame',
    })
  })

  it('reports what the page needs of a network, and no addresses of its hosts', () => {
    const network = {
      provider: 'network',
      scriptHost: 'a.example',
      hosts: {
        'a.example': 'https://a.example',
        b: { url: 'http://10.0.0.1', allowPrivate: true },
      },
      vastUrl: 'https://v.example/?idzone={zone}',
      insClass: 'eas6a97888e2',
      zones: { banner: '1', video: '3' },
      fill: 'creative',
    }
    expect(adsConfigOf(configOf(network), atRoot)).toEqual({
      provider: 'network',
      scriptPath: '/api/proxy-ad/a.example/ad-provider.js',
      insClass: 'eas6a97888e2',
      vastUrl: 'https://v.example/?idzone={zone}',
      zones: { banner: '1', video: '3' },
      fill: 'creative',
    })
    expect(adUrlsOf(configOf(network))).toEqual([
      'https://a.example',
      'http://10.0.0.1',
      'https://v.example/?idzone={zone}',
    ])
  })

  it('has no script path where no host is named: then there are no banners', () => {
    const preRollOnly = { provider: 'network', vastUrl: 'https://v.example/{zone}', insClass: 'x' }
    expect(adsConfigOf(configOf(preRollOnly), atRoot)).not.toHaveProperty('scriptPath')
  })
})

describe('house ads', () => {
  it('come with a script, banners and a pre-roll that need no third party', async () => {
    const { app, logged, ads } = await start()
    expect(ads.provider).toBe('house')
    expect(logged).toEqual([])
    const script = await app.inject('/api/proxy-ad/house/ad-provider.js')
    expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8')
    const { placements } = (await app.inject('/api/promo/serve?zone=banner&zone=inline')).json()
    for (const { frame } of placements) {
      const { body } = await app.inject(frame)
      expect(body).not.toMatch(/<script|(?:src|href)="?(?:https?:)?\/\//)
      expect(body).toMatch(/href="\/api\/promo\/click\/[\w-]+\?zone=(?:banner|inline)"/)
    }
  })

  it('that come with the program are all there, and small', async () => {
    const own = path.join(import.meta.dirname, 'creatives')
    const creatives = parseCreatives(await readFile(path.join(own, 'creatives.json'), 'utf8'))
    const files = new Set([...creatives.map(({ file }) => file), 'banners.json', 'creatives.json'])
    expect((await readdir(own)).toSorted()).toEqual([...files].toSorted())
    const films = creatives.filter(({ kind }) => kind === 'video')
    expect(films.length).toBeGreaterThan(0)
    for (const { file } of films) {
      expect((await readFile(path.join(own, file))).length).toBeLessThan(300_000)
    }
  })

  it('fill every requested zone, except zones that are not configured', async () => {
    const { app } = await start()
    const response = await app.inject('/api/promo/serve?zone=inline&zone=else&zone=banner')
    expect(response.headers['cache-control']).toBe('no-store')
    const { placements } = response.json()
    expect(placements).toHaveLength(3)
    expect(placements[1]).toBeNull()
    expect(placements[0].frame).not.toBe(placements[2].frame)
  })

  it.each([
    '/api/promo/serve',
    `/api/promo/serve?${'zone=a&'.repeat(101)}`,
    `/api/promo/serve?zone=${'a'.repeat(65)}`,
    '/api/promo/vast',
    '/api/promo/vast?zone=a&zone=b',
  ])('refuse a malformed question: %s', async (url) => {
    const { app } = await start()
    expect((await app.inject(url)).statusCode).toBe(400)
  })

  it('serve VAST that a player can follow: video, beacons and click', async () => {
    const { app, recorded } = await start()
    const response = await app.inject('/api/promo/vast?zone=video')
    expect(response.headers['content-type']).toBe('application/xml; charset=utf-8')
    const textsOf = (name: string) =>
      [
        ...response.body.matchAll(new RegExp(`<${name}(?: [^>]*)?>(?<text>[^]*?)</${name}>`, 'g')),
      ].map(({ groups }) => groups?.text?.replace(/^<!\[CDATA\[([^]*)\]\]>$/, '$1') ?? '')
    const textOf = (name: string) => textsOf(name)[0] ?? ''
    expect(textOf('Duration')).toBe('00:00:06.000')
    const media = await app.inject({ url: textOf('MediaFile'), headers: { range: 'bytes=4-7' } })
    expect([media.statusCode, media.body]).toEqual([206, 'ftyp'])
    expect(media.headers['content-type']).toBe('video/mp4')
    const beacons = [...textsOf('Impression'), ...textsOf('Tracking')]
    for (const url of beacons) expect((await app.inject(url)).statusCode).toBe(204)
    const click = await app.inject(textOf('ClickThrough'))
    expect([click.statusCode, click.headers.location]).toEqual([302, '/'])
    expect(recorded.map(({ name }) => name)).toEqual([
      'ad_impression',
      'ad_start',
      'ad_first_quartile',
      'ad_midpoint',
      'ad_third_quartile',
      'ad_complete',
      'ad_skip',
      'ad_click',
    ])
  })

  it('serve an empty VAST if nothing fits', async () => {
    const { app } = await start({ provider: 'house' }, await layOutOwnAds('no-film', [page]))
    const { body } = await app.inject('/api/promo/vast?zone=video')
    expect(body).toContain('<VAST')
    expect(body).not.toContain('<Ad')
  })
})

describe('house ads of the operator', () => {
  it('take the place of those that come with the program', async () => {
    const data = await layOutOwnAds('own', [image, page])
    const { app, recorded } = await start({ provider: 'house' }, data)
    const frame = await app.inject('/api/promo/frame/a?zone=banner')
    expect(frame.body).toContain('alt="&quot;A&quot; &amp; &lt;b&gt;"')
    expect(frame.headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox",
    )
    const media = await app.inject('/api/promo/media/a')
    expect(media.headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=3600',
      'cross-origin-resource-policy': 'cross-origin',
    })
    const own = await app.inject('/api/promo/frame/b?zone=inline')
    expect(own.body).toBe('<a href="/api/promo/click/b?zone=inline">b</a>')
    const click = await app.inject('/api/promo/click/a?zone=banner')
    expect(click.headers.location).toBe('https://a.example/?x=1')
    expect(recorded).toEqual([
      { name: 'ad_impression', creative: 'a', zone: 'banner' },
      { name: 'ad_impression', creative: 'b', zone: 'inline' },
      { name: 'ad_click', creative: 'a', zone: 'banner' },
    ])
  })

  it('count no one who sends Global Privacy Control or Do Not Track, and no HEAD', async () => {
    const { app, recorded } = await start({ provider: 'house' }, await layOutOwnAds('gpc', [page]))
    const url = '/api/promo/frame/b?zone=inline'
    await app.inject({ url, headers: { 'sec-gpc': '1' } })
    await app.inject({ url, headers: { dnt: '1' } })
    await app.inject({ url, method: 'HEAD' })
    expect(recorded).toEqual([])
  })

  it('respond with 404 to unknown ads, and serve nothing but their files', async () => {
    const data = await layOutOwnAds('closed', [image, page])
    await cp(path.join(data, 'house-ads/a.svg'), path.join(data, 'house-ads/other.svg'))
    const { app, recorded } = await start({ provider: 'house' }, data)
    for (const url of [
      '/api/promo/frame/c?zone=banner',
      '/api/promo/frame/a?zone=else',
      '/api/promo/media/other.svg',
      '/api/promo/media/creatives.json',
      '/api/promo/media/b',
      '/api/promo/media/..%2f..%2fa.svg',
      '/api/promo/media/__proto__',
      '/api/promo/click/c?zone=banner',
      '/api/promo/event/pause/a?zone=banner',
    ]) {
      expect([url, (await app.inject(url)).statusCode]).toEqual([url, 404])
    }
    expect(recorded).toEqual([])
  })

  it.each([
    ['a broken list', [{ ...page, kind: 'popup' }], 'creatives.0.kind'],
    ['a missing file', [{ ...page, file: 'gone.html' }], 'no such file: gone.html'],
  ])('with %s are unavailable, logged in one line', async (name, creatives, reason) => {
    const data = await layOutOwnAds(name.replaceAll(' ', '-'), creatives)
    const { app, ads, logged } = await start({ provider: 'house' }, data)
    expect(ads).toEqual({ provider: 'none' })
    expect(logged).toHaveLength(1)
    expect(logged[0]).toContain(reason)
    for (const url of ['/api/promo/serve?zone=banner', '/api/proxy-ad/house/ad-provider.js']) {
      expect((await app.inject(url)).statusCode).toBe(404)
    }
  })
})

it('reads no file of a house ad before there is room for it', async () => {
  const { app, files } = await start()
  const media = '/api/promo/media/your-film-here'
  const release = await files.enter(new AbortController().signal)
  expect((await app.inject(media)).statusCode).toBe(503)
  release()
  expect((await app.inject(media)).statusCode).toBe(200)
  expect(files.figures.used).toBe(0)
})
