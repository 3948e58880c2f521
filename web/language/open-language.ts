// Chooses the language of the document and loads its texts.
import { withTimeout } from '../../shared/with-timeout.ts'
import { openStorage } from '../navigation/open-storage.ts'
import type { Texts } from './texts.ts'
import { setLanguage, translateKnown } from './translate.ts'

/** The languages other than English, each a chunk; their names are in the footer of the HTML. */
const LOADERS: Readonly<Record<string, () => Promise<{ texts: Texts }>>> = {
  de: () => import('./de.ts'),
  es: () => import('./es.ts'),
  fr: () => import('./fr.ts'),
  ja: () => import('./ja.ts'),
  pt: () => import('./pt.ts'),
  'zh-Hans': () => import('./zh-hans.ts'),
}

/** The page is not rendered before. */
const LOAD_TIMEOUT_MS = 5000

const STORAGE_KEY = 'aftercast.language'

/** Readers of these do not expect Simplified Chinese. */
const TRADITIONAL = /^zh-(?!hans)(?:.*-)?(?:hant|tw|hk|mo)\b/i

/** The first of these tags that the page has texts for; English if it has none. */
export function findLanguage(tags: readonly string[]): string {
  const codes = ['en', ...Object.keys(LOADERS)]
  const found = tags
    .filter((tag) => !TRADITIONAL.test(tag))
    .map((tag) => codes.find((code) => primary(code) === primary(tag)))
  return found.find((code) => code !== undefined) ?? 'en'
}

/** `de-AT` -> `de`. */
function primary(tag: string): string | undefined {
  return tag.toLowerCase().split('-')[0]
}

/**
 * Opens the language that the visitor chose, else the first of the browser's. English is there at
 * once, and if texts cannot be loaded. `open` may throw.
 */
export async function openLanguage(open: () => Storage = openStorage): Promise<void> {
  const chosen = findLanguage([readChoice(open), ...navigator.languages])
  const texts = await loadTexts(chosen).catch(() => undefined)
  const { documentElement: root } = document
  if (texts) {
    setLanguage(chosen, texts)
    root.lang = chosen
    root.dir = texts.ltr
    // The footer is in the HTML, in English.
    for (const each of document.querySelectorAll('footer :is(a, span)'))
      each.textContent = translateKnown(each.textContent)
  }
  const select = document.querySelector<HTMLSelectElement>('footer select')
  if (!select) return
  select.value = root.lang
  select.addEventListener('change', () => {
    try {
      open().setItem(STORAGE_KEY, select.value)
    } catch {
      // Storage is full or off: the browser's language stays.
    }
    location.reload()
  })
}

async function loadTexts(language: string): Promise<Texts | undefined> {
  const load = LOADERS[language]
  return load && (await withTimeout(load, { timeoutMs: LOAD_TIMEOUT_MS })).texts
}

function readChoice(open: () => Storage): string {
  try {
    return open().getItem(STORAGE_KEY) ?? ''
  } catch {
    return ''
  }
}
