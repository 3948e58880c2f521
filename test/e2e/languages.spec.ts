// The languages of the page: that of the browser, the visitor's choice, and one that is written
// from right to left.
import type { BrowserContext, Page } from '@playwright/test'
import { expectNoViolation } from './expect-no-violation.ts'
import { fixtureDate, fixtureStreamer, languages } from './library.ts'
import { sharePage } from './share-page.ts'
import { expect, test } from './site.ts'

const sessionsPath = `/s/${encodeURIComponent(fixtureStreamer)}`
const playerPath =
  `/p/${encodeURIComponent(fixtureStreamer)}/${fixtureDate}/` + 'mp4-h264-aac-moov-first'
const tracksPath =
  `/p/${encodeURIComponent(languages.streamer)}/${fixtureDate}/` + languages.sessionId
const chunks = /\/assets\/(?:de|es|fr|ja|pt|zh-hans)-[\w-]+\.js$/

test.describe('in a German browser', () => {
  test.use({ locale: 'de-DE' })

  test('the page is in German, never before in English, and loads this language alone', async ({
    page,
  }) => {
    const loaded = recordChunks(page)
    await page.addInitScript(() => {
      const shown = new Set<string>()
      Object.assign(window, { shown })
      new MutationObserver(() => {
        for (const each of document.querySelectorAll('main :is(h1, button)'))
          shown.add(each.textContent)
      }).observe(document, { childList: true, subtree: true, characterData: true })
    })
    await page.goto(sessionsPath)
    await expect(page).toHaveTitle(`Streams: ${fixtureStreamer} · Aftercast`)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Streams: ${fixtureStreamer}`)
    await expect(page.locator('html')).toHaveAttribute('lang', 'de')
    await expect(page.locator('html')).toHaveAttribute('dir', 'ltr')
    await expect(page.getByRole('button', { name: 'Zurück' })).toBeVisible()
    const shown = await page.evaluate(() => [...(Reflect.get(window, 'shown') as Set<string>)])
    expect(shown).toEqual(['Zurück', `Streams: ${fixtureStreamer}`])
    const monthHeading = page.getByRole('heading', { level: 2 }).first()
    await expect(monthHeading).toHaveText('Januar 2026')
    await expect(page.getByRole('listitem').first().locator('time')).toHaveText('Samstag')
    await page.getByRole('searchbox').fill('samst 31 jan')
    await expect(page.locator('search p')).toHaveText(/^\d+ Streams gefunden$/)
    await expect(page.locator('footer')).toContainText('Jederzeit ansehen')
    await expect(page.getByRole('combobox', { name: 'Sprache' })).toHaveValue('de')
    expect(loaded.map((url) => /assets\/(\w+)/.exec(url)?.[1])).toEqual(['de'])
  })

  test('the player is in German, but no name is translated', async ({ page }) => {
    await page.goto(tracksPath)
    await expect(page.getByRole('button', { name: 'Kinomodus' })).toBeVisible()
    await page.getByRole('button', { name: 'Audio' }).click()
    await expect(page.getByRole('menuitemradio')).toHaveText(['Englisch', 'Deutsch'])
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await expect(page.getByRole('dialog', { name: 'Tastenkürzel' })).toContainText('Leertaste')
    await page.getByRole('button', { name: 'Schließen' }).click()
    await expect(page.getByRole('region', { name: 'Über diesen Stream' })).toContainText(
      'Samstag, 31. Januar 2026',
    )
    const names = page.getByRole('heading', { level: 1 }).locator('[translate=no]')
    await expect(names).toHaveText([languages.streamer, fixtureDate, languages.sessionId])
  })
})

test.describe('in a German browser, with house ads', () => {
  test.use({ locale: 'de-DE', siteUrl: async ({ houseSiteUrl }, provide) => provide(houseSiteUrl) })

  test('ads are labelled in German', async ({ page }) => {
    await page.goto('/')
    const block = page.getByRole('complementary', { name: 'Werbung: oben' })
    await expect(block.getByText('Werbung')).toBeVisible()
  })

  test('the embedded player is in German', async ({ page }) => {
    await page.goto(`/embed${playerPath.slice('/p'.length)}-unknown`)
    await expect(page.getByRole('heading')).toHaveText('Dieser Stream ist nicht verfügbar.')
    await expect(page.locator('html')).toHaveAttribute('lang', 'de')
  })
})

test('an English page loads no other language', async ({ page }) => {
  const loaded = recordChunks(page)
  await page.goto(playerPath)
  await expect(page.getByRole('button', { name: 'Theatre' })).toBeVisible()
  await expect(page.locator('html')).toHaveAttribute('lang', 'en')
  await expect(page.getByRole('combobox', { name: 'Language' })).toHaveValue('en')
  expect(loaded).toEqual([])
})

test('the choice in the footer is remembered, and wins over the browser', async ({ page }) => {
  await page.goto('/')
  await page.getByRole('combobox', { name: 'Language' }).selectOption({ label: '日本語' })
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('配信者')
  await page.reload()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('配信者')
  await expect(page.locator('html')).toHaveAttribute('lang', 'ja')
  await page.getByRole('combobox', { name: '言語' }).selectOption('en')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Streamers')
  await expect(page.locator('html')).toHaveAttribute('lang', 'en')
})

test.describe('in a French browser', () => {
  test.use({ locale: 'fr' })

  test('the page is in English if its language cannot be loaded', async ({ page }) => {
    await page.route(chunks, (route) => route.abort())
    await page.goto('/')
    await expectEnglish(page)
  })

  test('the page is in English if its language does not arrive', async ({ page }) => {
    await page.clock.install()
    const requested = page.waitForRequest(chunks)
    await page.route(chunks, () => undefined)
    await page.goto('/')
    await requested
    await page.clock.fastForward(5000)
    await expectEnglish(page)
  })

  async function expectEnglish(page: Page): Promise<void> {
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Streamers')
    await expect(page.locator('html')).toHaveAttribute('lang', 'en')
    await expect(page.getByRole('combobox', { name: 'Language' })).toHaveValue('en')
  }
})

test('the HTML is the same for all languages', async ({ request }) => {
  for (const path of ['/', sessionsPath, playerPath]) {
    const [english, german] = await Promise.all(
      ['en', 'de'].map((tag) => request.get(path, { headers: { 'Accept-Language': tag } })),
    )
    expect(await german?.text()).toBe(await english?.text())
    expect(german?.headers()['vary'] ?? '').not.toMatch(/language/i)
  }
})

test.describe('a language that is written from right to left', () => {
  test.use({ locale: 'ja' })

  test('has its own texts everywhere, and no violation of WCAG', async ({ page, context }) => {
    await serveMirrored(context)
    for (const path of ['/', '/s/nobody', `${playerPath}-unknown`, sessionsPath, playerPath]) {
      await openWhole(page, path)
      expect(await page.evaluate(findLatinTexts, fixtureStreamer)).toEqual([])
      await expectNoViolation(page)
      await test.step('does not scroll sideways', async () => {
        for (const width of [360, 768, 1440]) {
          await page.setViewportSize({ width, height: 900 })
          expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
        }
        await page.setViewportSize({ width: 1280, height: 720 })
      })
    }
    await page.keyboard.press('?')
    await expect(page.getByRole('dialog')).toBeVisible()
    await expectNoViolation(page)
  })

  test.describe('the player', () => {
    sharePage(
      async (page) => {
        await serveMirrored(page.context())
        await openWhole(page, playerPath)
      },
      async (page) => {
        await page.keyboard.press('Escape')
        await page.locator('video').evaluate((video: HTMLVideoElement) => {
          video.pause()
          video.currentTime = 0
        })
        await expect(page.getByRole('slider')).toHaveAttribute('aria-valuenow', '0')
      },
    )

    test('a menu is above its button', async ({ page }) => {
      const button = page.locator('[aria-haspopup=menu]').first()
      await button.click()
      const [of, above] = await Promise.all([
        button.boundingBox(),
        page.getByRole('menu').boundingBox(),
      ])
      if (!of || !above) throw new Error('the menu is not visible')
      expect(Math.abs(of.x + of.width / 2 - (above.x + above.width / 2))).toBeLessThan(1)
    })

    test('the sign of a step is before its number', async ({ page }) => {
      const step = page.getByRole('button', { name: '−10' })
      const [sign, digit] = await step.evaluate((button) => {
        const text = button.firstChild
        if (!(text instanceof Text)) return []
        const from = text.data.indexOf('−')
        return [from, from + 1].map((at) => {
          const range = document.createRange()
          range.setStart(text, at)
          range.setEnd(text, at + 1)
          return range.getBoundingClientRect().x
        })
      })
      expect(sign).toBeLessThan(digit ?? NaN)
    })

    test('its time runs from left to right', async ({ page }) => {
      const slider = page.getByRole('slider')
      const box = await slider.boundingBox()
      if (!box) throw new Error('the slider is not visible')
      await slider.click({ position: { x: box.width * 0.9, y: box.height / 2 } })
      await expect.poll(() => slider.getAttribute('aria-valuenow').then(Number)).toBeGreaterThan(3)
    })
  })
})

/** The URLs of the chunks of languages that a page loads. */
function recordChunks(page: Page): string[] {
  const urls: string[] = []
  page.on('request', (request) => {
    if (chunks.test(request.url())) urls.push(request.url())
  })
  return urls
}

/** Serves the Japanese chunk with Hebrew letters instead of the English ones, a third longer. */
async function serveMirrored(context: BrowserContext): Promise<void> {
  await context.route(/\/assets\/ja-[\w-]+\.js$/, async (route) => {
    const response = await route.fetch()
    const source = await response.text()
    const url = `data:text/javascript,${encodeURIComponent(source)}`
    const { texts }: { texts: Record<string, unknown> } = await import(url)
    const mirrored = Object.entries(texts).map(([english, text]) => {
      const mirror = mirrorText(english)
      return [english, typeof text === 'string' ? mirror : { other: mirror }]
    })
    const body = JSON.stringify({ ...Object.fromEntries(mirrored), ltr: 'rtl' })
    await route.fulfill({ response, body: `export const texts=${body}` })
  })
}

function mirrorText(english: string): string {
  const mirrored = english.replaceAll(/\{\w+\}|[a-z]/gi, (part) =>
    part.length > 1 ? part : String.fromCodePoint(0x5d0 + (part.toLowerCase().charCodeAt(0) % 27)),
  )
  return `${mirrored} ${'שלום'.repeat(Math.ceil(english.length / 12))}`
}

/** Opens a page, and waits for what is loaded last. */
async function openWhole(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await expect(page.locator('html')).toHaveAttribute('dir', 'rtl')
  await expect(page.getByRole('listitem').first()).toBeVisible()
  if (!path.startsWith('/p/')) return
  if (path === playerPath) await expect(page.getByRole('slider')).toBeVisible()
  await expect(page.locator('[data-settled]')).toBeVisible()
}

/** Words in Latin letters that a visitor sees or hears, except names. Runs in the page. */
function findLatinTexts(name: string): string[] {
  const isWord = (text: string | null) => /[a-z]{2}/i.test((text ?? '').replace(name, ''))
  const isOwn = (element: Element | null) =>
    element !== null && !element.closest('[translate=no], script, style, noscript, option, video')
  const found: string[] = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const { parentElement, textContent } = walker.currentNode
    if (isOwn(parentElement) && isWord(textContent)) found.push(textContent ?? '')
  }
  for (const element of document.body.querySelectorAll('[aria-label], [placeholder]')) {
    for (const name of ['aria-label', 'placeholder']) {
      const text = element.getAttribute(name)
      if (isOwn(element) && isWord(text)) found.push(`${name}: ${text}`)
    }
  }
  return found
}
