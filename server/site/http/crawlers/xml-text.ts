// Text in XML 1.0 documents.
import { escapeMarkup } from '../../../../shared/escape-markup.ts'

export const XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'

/** Not a Char of XML 1.0 (2.2). No reference can represent these either. */
const NO_CHARACTER =
  // oxlint-disable-next-line no-control-regex -- they are what is removed
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uD800-\uDFFF\uFFFE\uFFFF]/gu

/** An element with text; names of files may contain what XML cannot. */
export function xmlElement(name: string, text: string): string {
  return `<${name}>${escapeMarkup(text.replaceAll(NO_CHARACTER, ''))}</${name}>`
}
