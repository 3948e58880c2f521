// The page's own words in the language of this document.
import type { CountedText, PluralForms, Text, Texts } from './texts.ts'

/** The values of a text: `moment` of `Continue at {moment}`. */
export type Values<T extends string, V = string | number> = Record<Placeholder<T>, V>

type Placeholder<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never

interface Translation {
  /** BCP 47. */
  language: string
  texts: Partial<Record<string, string | PluralForms>>
  plurals: Intl.PluralRules
  numbers: Intl.NumberFormat
}

/** Set once, before the first rendering; English has none. */
let translation: Translation | undefined

/** Every text that is formatted later is in this language. */
export function setLanguage(language: string, texts: Texts): void {
  const plurals = new Intl.PluralRules(language)
  translation = { language, texts, plurals, numbers: new Intl.NumberFormat(language) }
}

/** BCP 47, for `Intl`. */
export function currentLanguage(): string {
  return translation?.language ?? 'en'
}

/** A text, with its values. Numbers have the form of the language. */
export function translate<T extends Text>(
  text: T,
  ...[values]: [Placeholder<T>] extends [never] ? [] : [Values<T>]
): string {
  return fillText(translateKnown(text), values ?? {}).join('')
}

/** A text that may be any: what the page does not know, such as the label `480p`, stays. */
export function translateKnown(text: string): string {
  const translated = translation?.texts[text]
  return typeof translated === 'string' ? translated : text
}

/** A text with a number. `one` is the English text for 1, if it differs. */
export function translateCount(count: number, text: CountedText, one: string = text): string {
  const forms = translation?.texts[text]
  const english = count === 1 ? one : text
  const form =
    translation && typeof forms === 'object'
      ? (forms[translation.plurals.select(count)] ?? forms.other)
      : english
  return fillText(form, { n: count }).join('')
}

/** The parts of a text in order, with its values between them. */
export function fillText<V>(text: string, values: Readonly<Record<string, V>>): (string | V)[] {
  return text.split(/\{(\w+)\}/).map((part, at) => {
    const value = at % 2 === 1 ? values[part] : undefined
    return typeof value === 'number' ? formatNumber(value) : (value ?? part)
  })
}

/** A number in the form of the language; English has no marks between thousands. */
export function formatNumber(value: number): string {
  return translation ? translation.numbers.format(value) : String(value)
}

/** Many languages write names of months and languages small, but not at the start of a line. */
export function startLarge(text: string): string {
  return text.charAt(0).toLocaleUpperCase(currentLanguage()) + text.slice(1)
}
