// Markup from templates in which every value is escaped unless it is markup itself.
import { escapeMarkup } from '../../../shared/escape-markup.ts'
import { printable } from '../../../shared/printable.ts'

/** Text of an HTML document that needs no escaping. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Markup | readonly Markup[] | undefined

/** A template of HTML. Strings are escaped for elements and quoted attributes. */
export function markup(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  const texts = parts.map((part, at) => part + textOf(values[at]))
  return new Markup(texts.join(''))
}

/** An untrusted name: isolated from the text direction around it, control characters visible. */
export function nameMarkup(name: string): Markup {
  return markup`<bdi>${printable(name)}</bdi>`
}

function textOf(value: Value): string {
  if (value === undefined) return ''
  if (value instanceof Markup) return value.text
  if (typeof value === 'string') return escapeMarkup(value.toWellFormed())
  if (typeof value === 'number') return String(value)
  return value.map(({ text }) => text).join('')
}
