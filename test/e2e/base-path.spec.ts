// A site below a base path in a real browser: browsing, playing, ads and the embedded player
// request nothing outside of it.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { embedPagePath, playerPagePath, sessionsPagePath } from '../../shared/paths.ts'
import {
  blocks,
  closeButton,
  expect,
  expectHeld,
  expectPlaying,
  overlay,
  recommendedMs,
  slowFilms,
} from './ad-site.ts'
import { fixtureDate, fixtureStreamer } from './library.ts'
import { test as base } from './site.ts'

const test = base.extend({
  siteUrl: async ({ basePathSiteUrl }, provide) => provide(basePathSiteUrl),
  pageClock: 'stopped',
  page: async ({ page }, provide) => {
    await slowFilms(page)
    await provide(page)
  },
})

/** With subtitles and a storyboard. */
const session = {
  streamer: fixtureStreamer,
  date: fixtureDate,
  sessionId: 'mp4-h264-two-video-two-audio-movtext',
}
/** Blocks in lists are served 100 ms after the list has loaded. */
const afterListMs = 100
/** More than the collector's batches wait. */
const batchMs = 1000

/** URLs of requests, except those of blobs and data. */
function watchRequests(page: Page): string[] {
  const urls: string[] = []
  page.on('request', (request) => {
    if (request.url().startsWith('http')) urls.push(request.url())
  })
  return urls
}

/** Paths of the page views that the collector gets. */
function watchPageViews(page: Page): string[] {
  const paths: string[] = []
  page.on('request', (request) => {
    if (!request.url().endsWith('/api/activity')) return
    const events: { name: string; path?: string }[] = JSON.parse(request.postData() ?? '[]')
    paths.push(...events.flatMap(({ name, path }) => (name === 'page_view' && path) || []))
  })
  return paths
}

test('browses and plays, with every request below the base path', async ({
  page,
  context,
  siteUrl,
  consoleErrors,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const requests = watchRequests(page)
  const pageViews = watchPageViews(page)
  await page.goto(`${siteUrl}/`)
  await expect(blocks(page, 'header').locator('iframe')).toBeVisible()
  await expect(blocks(page, 'list').first()).toBeAttached()
  await page.clock.runFor(afterListMs)
  await expect(blocks(page, 'list').first().locator('iframe')).toBeVisible()

  const streamer = page.getByRole('listitem').filter({ hasText: fixtureStreamer })
  await streamer.getByRole('link', { name: 'View Sessions' }).click()
  await expect(page).toHaveURL(siteUrl + sessionsPagePath(fixtureStreamer))
  const card = page.getByRole('listitem').filter({ hasText: `Session ${session.sessionId} •` })
  const sheet = page.waitForResponse(/\/tv\/api\/storyboard\/.*\/tile-/)
  await card.getByRole('link', { name: 'Play' }).click()
  await expect(page).toHaveURL(siteUrl + playerPagePath(session))
  await expect(overlay(page)).toBeVisible()
  await expectHeld(page)
  await page.clock.runFor(recommendedMs)
  const recommended = page.getByRole('list', { name: 'Recommended' }).getByRole('link')
  await expect(recommended.first()).toHaveAttribute('href', /^\/tv\/p\//)
  await page.clock.runFor(batchMs)
  await expect
    .poll(() => pageViews)
    .toEqual(['/', sessionsPagePath(fixtureStreamer), playerPagePath(session)])
  await closeButton(page).click()
  await expectPlaying(page)
  expect((await sheet).status()).toBe(200)

  const subtitles = page.waitForResponse(/\/tv\/api\/video\/.*\.vtt$/)
  await page.keyboard.press('c')
  expect((await subtitles).status()).toBe(200)
  await page.getByRole('button', { name: /^Copy link/ }).click()
  await expect(page.getByText('Link copied')).toBeAttached()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied.split('?')[0]).toBe(siteUrl + playerPagePath(session))

  await recommended.first().click()
  await expect(page).not.toHaveURL(siteUrl + playerPagePath(session))
  await page.goBack()
  await expect(page).toHaveURL(siteUrl + playerPagePath(session))
  await page.getByRole('button', { name: 'Back' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Sessions: ${fixtureStreamer}`)
  await page.getByRole('link', { name: 'Home' }).click()
  await expect(page).toHaveURL(`${siteUrl}/`)
  await page.reload()
  await expect(page.getByRole('heading', { level: 1, name: 'Streamers' })).toBeVisible()
  expect(requests.filter((url) => !url.startsWith(`${siteUrl}/`))).toEqual([])
  expect(requests.filter((url) => /\/api\/video\/.*\.(?:ts|m4s|mp4)$/.test(url))).not.toEqual([])
  expect(consoleErrors.list()).toEqual([])
})

test('embeds the player', async ({ page, siteUrl, consoleErrors }) => {
  const requests = watchRequests(page)
  await page.goto(siteUrl + embedPagePath(session))
  await expect(overlay(page)).toBeVisible()
  await closeButton(page).click()
  await expectPlaying(page)
  expect(requests.filter((url) => !url.startsWith(`${siteUrl}/`))).toEqual([])
  expect(consoleErrors.list()).toEqual([])
  await page.goto(siteUrl + embedPagePath({ ...session, sessionId: 'missing' }))
  await expect(page.getByRole('link', { name: 'Watch others' })).toHaveAttribute('href', '/tv/')
})

test('redirects from the root of the host, and shows unknown pages as such', async ({
  page,
  siteUrl,
}) => {
  await page.goto(new URL(siteUrl).origin)
  await expect(page).toHaveURL(`${siteUrl}/`)
  await page.goto(`${siteUrl}/nothing`)
  await page.getByRole('link', { name: 'All streamers' }).click()
  await expect(page).toHaveURL(`${siteUrl}/`)
})

test('saves the recording of a session', async ({ page, siteUrl }) => {
  await page.goto(siteUrl + playerPagePath(session))
  const saved = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download', exact: true }).click()
  const download = await saved
  expect(download.suggestedFilename()).toBe(`${session.sessionId}.mp4`)
  const original = path.join(import.meta.dirname, `../fixtures/media/${session.sessionId}.mp4`)
  expect(await readFile(await download.path())).toEqual(await readFile(original))
})
