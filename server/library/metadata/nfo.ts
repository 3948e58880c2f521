// `.nfo` files of Kodi, Jellyfin and others: XML with the fields as children of the root.
import { SaxesParser } from 'saxes'
import { cleanDescription, cleanTitle, MAX_DESCRIPTION_LENGTH } from '../../base/clean-text.ts'
import { zonedStart } from '../catalog/names/start-time.ts'
import type { SidecarText, SidecarParser } from './sidecar-parser.ts'

/** Nested elements, and attributes of one element: the parser has them in memory. */
const MAX_DEPTH = 64
const MAX_ATTRIBUTES = 64
/** Characters between two tags, which the parser joins to one string. */
const MAX_TEXT_LENGTH = 1024 * 1024
/** Characters of one field that are read. */
const MAX_FIELD_LENGTH = 16 * MAX_DESCRIPTION_LENGTH
const FIELDS = new Set(['title', 'plot', 'premiered'])

/** The file has more than the limits allow. */
class LimitExceeded extends Error {}

/**
 * Reads the fields. Only the entities of XML itself are known: those that a file declares are
 * errors, and nothing outside of the file is read. What follows the root, such as the URL that Kodi
 * allows there, does not count.
 */
export class NfoParser implements SidecarParser<SidecarText> {
  readonly #decoder = new TextDecoder()
  readonly #xml = new SaxesParser()
  readonly #fields = new Map<string, string>()
  #depth = 0
  #attributes = 0
  /** Characters since the last tag. */
  #textLength = 0
  #field: string | undefined
  #isWhole = false
  #isBroken = false

  constructor() {
    this.#xml.on('error', (error) => {
      throw error
    })
    this.#xml.on('opentagstart', ({ name }) => this.#openElement(name))
    this.#xml.on('attribute', () => {
      this.#attributes += 1
      if (this.#attributes > MAX_ATTRIBUTES) throw new LimitExceeded()
    })
    this.#xml.on('text', (text) => this.#addText(text))
    this.#xml.on('cdata', (text) => this.#addText(text))
    this.#xml.on('closetag', () => this.#closeElement())
  }

  add(bytes: Uint8Array): boolean {
    this.#write(this.#decoder.decode(bytes, { stream: true }))
    return !this.#isBroken && !this.#isWhole
  }

  end(): SidecarText | undefined {
    if (!this.#isWhole) return undefined
    const title = cleanTitle(this.#fields.get('title'))
    const description = cleanDescription(this.#fields.get('plot'))
    const startMs = zonedStart(this.#fields.get('premiered'))
    return {
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(startMs !== undefined && { startMs }),
    }
  }

  #write(text: string): void {
    if (this.#isBroken || this.#isWhole) return
    try {
      this.#limitText(text)
      this.#xml.write(text)
    } catch {
      // Errors of the syntax, also after the root, and LimitExceeded.
      this.#isBroken = true
    }
  }

  #limitText(text: string): void {
    const first = text.indexOf('<')
    const length = this.#textLength + (first === -1 ? text.length : first)
    if (length > MAX_TEXT_LENGTH) throw new LimitExceeded()
    this.#textLength = first === -1 ? length : text.length - text.lastIndexOf('<')
  }

  #openElement(name: string): void {
    this.#depth += 1
    this.#attributes = 0
    if (this.#depth > MAX_DEPTH) throw new LimitExceeded()
    // The first of equal fields counts.
    const isField = this.#depth === 2 && FIELDS.has(name) && !this.#fields.has(name)
    if (isField) this.#fields.set(name, '')
    if (this.#depth === 2) this.#field = isField ? name : undefined
  }

  #addText(text: string): void {
    if (this.#field === undefined || this.#depth !== 2) return
    const known = this.#fields.get(this.#field) ?? ''
    const room = MAX_FIELD_LENGTH - known.length
    this.#fields.set(this.#field, known + text.slice(0, room))
  }

  #closeElement(): void {
    this.#depth -= 1
    if (this.#depth === 1) this.#field = undefined
    if (this.#depth === 0) this.#isWhole = true
  }
}
