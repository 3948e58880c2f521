// @vitest-environment jsdom
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { texts as de } from './de.ts'
import { texts as es } from './es.ts'
import { texts as fr } from './fr.ts'
import { texts as ja } from './ja.ts'
import { texts as pt } from './pt.ts'
import type { Texts } from './texts.ts'
import { texts as zh } from './zh-hans.ts'

const root = path.resolve(import.meta.dirname, '../..')
const languages: [language: string, texts: Texts][] = [
  ['de', de],
  ['es', es],
  ['fr', fr],
  ['ja', ja],
  ['pt', pt],
  ['zh-Hans', zh],
]

// Each test begins with a document in English.
beforeEach(() => vi.resetModules())

describe.each(languages)('the texts in %s', (language, texts) => {
  test('have the values of the English ones', () => {
    const differences = Object.entries(texts).filter(([english, text]) =>
      formsOf(text).some((form) => String(valuesOf(form)) !== String(valuesOf(english))),
    )
    expect(differences).toEqual([])
  })

  test('are neither empty nor padded', () => {
    const all = Object.values(texts).flatMap(formsOf)
    expect(all.filter((form) => form === '' || form !== form.trim())).toEqual([])
  })

  test('have a form for each category of numbers', () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
    const named = Object.values(texts).flatMap((text) =>
      typeof text === 'string' ? [] : Object.keys(text),
    )
    expect(new Set(named)).toEqual(new Set(pluralCategories))
  })
})

test('are those that the page contains', () => {
  const sources = readdirSync(path.join(root, 'web'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|html)$/.test(name) && !/\.test\.|^language/.test(name))
    .map((name) => readFileSync(path.join(root, 'web', name), 'utf8'))
  // The label of a quality and the link in the footer are from the server.
  const page = [...sources, "'Original' 'Data saver' 'Sound only' >Contact<"].join('\n')
  const isContained = (text: string) => {
    const written = text.replace('\u00A0', String.raw`\u00A0`)
    return [`'${written}'`, `"${written}"`, `>${written}<`].some((each) => page.includes(each))
  }
  // `ltr` is the direction itself.
  expect(Object.keys(de).filter((text) => text !== 'ltr' && !isContained(text))).toEqual([])
})

test('are a choice in the footer, each in its own name', () => {
  const html = readFileSync(path.join(root, 'web/index.html'), 'utf8')
  const page = new DOMParser().parseFromString(html, 'text/html')
  const options = [...page.querySelectorAll('footer option')]
  const codes = options.map((option) => option.getAttribute('value') ?? '')
  expect(codes.toSorted()).toEqual(['en', ...languages.map(([language]) => language)].toSorted())
  for (const option of options) {
    expect(option.getAttribute('lang')).toBe(option.getAttribute('value'))
    const names = new Intl.DisplayNames([option.getAttribute('lang') ?? ''], { type: 'language' })
    const name = names.of(option.getAttribute('lang') ?? '') ?? ''
    expect(option.textContent.toLowerCase()).toBe(name.toLowerCase())
  }
})

test('English is in the components', async () => {
  const { translate, translateCount, formatNumber } = await import('./translate.ts')
  expect(translate('Back')).toBe('Back')
  expect(translate('Continue at {moment}', { moment: '0:01:00' })).toBe('Continue at 0:01:00')
  // To the letter of the specification.
  expect(translateCount(1, '{n} recordings')).toBe('1 recordings')
  expect(translateCount(1234, '{n} recordings')).toBe('1234 recordings')
  expect(translateCount(1, '{n} messages', '{n} message')).toBe('1 message')
  expect(formatNumber(1.5)).toBe('1.5')
})

test('another language has its own texts, plurals and numbers', async () => {
  const { currentLanguage, setLanguage, startLarge, translate, translateCount, formatNumber } =
    await import('./translate.ts')
  setLanguage('es', es)
  expect(currentLanguage()).toBe('es')
  expect(translate('Back')).toBe('Atrás')
  expect(translateCount(1, '{n} recordings')).toBe('1 grabación')
  expect(translateCount(2, '{n} recordings')).toBe('2 grabaciones')
  expect(translateCount(1_000_000, '{n} recordings')).toBe('1.000.000 de grabaciones')
  expect(formatNumber(1.5)).toBe('1,5')
  expect(startLarge('marzo')).toBe('Marzo')
})

test('a value of a text is never read as a text', async () => {
  const { translate, translateKnown } = await import('./translate.ts')
  expect(translate('Only {user}', { user: '{user} $& {0}' })).toBe('Only {user} $& {0}')
  expect(translateKnown('480p')).toBe('480p')
})

/** `{a} {b}` -> `{a}`, `{b}`. */
function valuesOf(text: string): string[] {
  return [...text.matchAll(/\{\w+\}/g)].map(([value]) => value).toSorted()
}

function formsOf(text: Texts[keyof Texts]): string[] {
  return typeof text === 'string' ? [text] : Object.values(text)
}
