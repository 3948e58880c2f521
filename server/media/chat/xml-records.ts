// Splits XML into records: the children of the root. The root may be unclosed, as it is while a
// recorder writes the file. What else is in the file, such as a stylesheet, is skipped.
import { SaxesParser } from 'saxes'
import { MAX_RECORD_LENGTH } from './record-splitter.ts'
import type { OnRecord, RecordSplitter, XmlElement } from './record-splitter.ts'

/** Nested elements, and attributes of one element: the parser has them in memory. */
const MAX_DEPTH = 64
const MAX_ATTRIBUTES = 64
/** Characters that XML forbids; recorders write what users typed. */
// oxlint-disable-next-line no-control-regex -- they are what is removed
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g

/** The file has more than the limits allow. */
class LimitExceeded extends Error {}

export class XmlRecords implements RecordSplitter {
  readonly #onRecord: OnRecord
  readonly #xml = new SaxesParser()
  #depth = 0
  #attributes: Record<string, string> = {}
  #attributeCount = 0
  #text = ''
  /** Characters since the last tag, which the parser may have in memory. */
  #pending = 0
  #isBroken = false

  constructor(onRecord: OnRecord) {
    this.#onRecord = onRecord
    // Nothing: it goes on after an error of the syntax.
    this.#xml.on('error', () => undefined)
    this.#xml.on('opentagstart', () => this.#openElement())
    this.#xml.on('attribute', ({ name, value }) => this.#addAttribute(name, value))
    this.#xml.on('text', (text) => this.#addText(text))
    this.#xml.on('cdata', (text) => this.#addText(text))
    this.#xml.on('closetag', ({ name }) => this.#closeElement(name))
  }

  add(text: string): void {
    if (this.#isBroken) return
    this.#pending += text.length
    try {
      this.#xml.write(text.replaceAll(FORBIDDEN, ''))
      if (this.#pending > MAX_RECORD_LENGTH + text.length) throw new LimitExceeded()
    } catch {
      // LimitExceeded, or a name that the parser cannot handle: the messages before it count.
      this.#isBroken = true
    }
  }

  end(): void {
    this.#isBroken = true
  }

  #openElement(): void {
    this.#pending = 0
    this.#depth += 1
    this.#attributeCount = 0
    if (this.#depth > MAX_DEPTH) throw new LimitExceeded()
    if (this.#depth !== 2) return
    this.#attributes = {}
    this.#text = ''
  }

  #addAttribute(name: string, value: string): void {
    this.#attributeCount += 1
    if (this.#attributeCount > MAX_ATTRIBUTES) throw new LimitExceeded()
    if (this.#depth === 2) this.#attributes[name] = value
  }

  #addText(text: string): void {
    if (this.#depth === 2 && this.#text.length < MAX_RECORD_LENGTH) this.#text += text
  }

  #closeElement(name: string): void {
    this.#pending = 0
    if (this.#depth === 2) {
      const element: XmlElement = { name, attributes: this.#attributes, text: this.#text }
      this.#onRecord(element)
    }
    this.#depth -= 1
  }
}
