// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from 'vitest'
import { findLanguage } from './open-language.ts'

beforeEach(() => vi.resetModules())

test.each([
  [['de-AT', 'en'], 'de'],
  [['en-GB', 'de'], 'en'],
  [['it', 'fr-CA', 'en'], 'fr'],
  [['pt-PT'], 'pt'],
  [['DE'], 'de'],
  [['zh-CN'], 'zh-Hans'],
  [['zh'], 'zh-Hans'],
  [['zh-Hans-HK-u-ca-chinese', 'en'], 'zh-Hans'],
  [['zh-TW', 'ja'], 'ja'],
  [['zh-Hant', 'en-US'], 'en'],
  [['den', 'x-private', ''], 'en'],
  [[], 'en'],
])('a visitor who reads %j gets %s', (tags, language) => {
  expect(findLanguage(tags)).toBe(language)
})

test.each([
  ['de', ['fr'], 'de'],
  ['en', ['de'], 'en'],
  ['klingon', ['de'], 'de'],
  [undefined, ['de'], 'de'],
])('the choice %s wins over %j', async (choice, tags, language) => {
  expect(await openWith(choice, tags)).toBe(language)
})

test('is that of the browser where storage is off', async () => {
  vi.stubGlobal('navigator', { languages: ['ja'] })
  const { openLanguage } = await import('./open-language.ts')
  await openLanguage(() => {
    throw new DOMException('off', 'SecurityError')
  })
  expect(document.documentElement.lang).toBe('ja')
})

test('translates the footer of the HTML', async () => {
  expect(await openWith(undefined, ['de'])).toBe('de')
  const footer = document.querySelector('footer')
  expect(footer?.querySelector('select')?.value).toBe('de')
  expect(Array.from(footer?.querySelectorAll('span, a') ?? [], (each) => each.textContent)).toEqual(
    ['Live aufgezeichnet. Jederzeit ansehen.', 'Kontakt', 'Sprache'],
  )
})

test('translates what covers the video during an ad', async () => {
  await openWith(undefined, ['de'])
  const { createOverlay } = await import('../ads/preroll/preroll-overlay.ts')
  const { root, close, link } = createOverlay({ clickThroughUrl: 'https://ad.example' })
  expect(root.getAttribute('aria-label')).toBe('Werbung')
  expect(root.textContent).toContain('Anzeige')
  expect(close.getAttribute('aria-label')).toBe('Werbung schließen')
  expect(link?.textContent).toBe('Zum Werbetreibenden')
})

/** The language of the document; English is in the HTML. */
async function openWith(choice: string | undefined, tags: string[]): Promise<string> {
  document.documentElement.lang = 'en'
  document.body.innerHTML = `<footer>
    <span>Recorded live. Watch any time.</span><a href="/contact">Contact</a>
    <label><span>Language</span>
      <select><option value="en">English</option><option value="de">Deutsch</option></select>
    </label></footer>`
  vi.stubGlobal('navigator', { languages: tags })
  localStorage.clear()
  if (choice !== undefined) localStorage.setItem('aftercast.language', choice)
  const { openLanguage } = await import('./open-language.ts')
  await openLanguage(() => localStorage)
  return document.documentElement.lang
}
