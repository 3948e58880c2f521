// `streamer.json` in the folder of a streamer: a display name, a description and links.
import { cleanDescription, cleanTitle } from '../../base/clean-text.ts'
import { CHAT_FIELDS, parseChatSettings } from './chat-settings.ts'
import type { ChatSettings } from './chat-settings.ts'
import { JsonFieldsParser } from './json-fields.ts'
import type { SidecarParser } from './sidecar-parser.ts'

/** A link of a streamer: absolute, http or https. */
export interface StreamerLink {
  label: string
  url: string
}

/** What a `streamer.json` contains. */
export interface StreamerJson {
  text: StreamerText
  chat: ChatSettings
}

/** What is shown of a streamer; a field of another type is absent. */
export interface StreamerText {
  displayName?: string
  description?: string
  links?: StreamerLink[]
}

const TEXT_FIELDS = ['displayName', 'description', 'links']
const MAX_LINKS = 20
const MAX_URL_LENGTH = 2000
/** Keys of the label of a link, as in other programs. */
const LABELS = ['label', 'title', 'name']

export class StreamerJsonParser implements SidecarParser<StreamerJson> {
  readonly #json = new JsonFieldsParser([...TEXT_FIELDS, ...CHAT_FIELDS])

  add(bytes: Uint8Array): boolean {
    return this.#json.add(bytes)
  }

  end(): StreamerJson | undefined {
    const fields = this.#json.end()
    if (fields === undefined) return undefined
    const displayName = cleanTitle(fields.get('displayName'))
    const description = cleanDescription(fields.get('description'))
    const links = parseLinks(fields.get('links'))
    const text = {
      ...(displayName !== undefined && { displayName }),
      ...(description !== undefined && { description }),
      ...(links.length > 0 && { links }),
    }
    return { text, chat: parseChatSettings(fields) }
  }
}

/** A list of URLs or of objects with `url` and a label, or an object with URLs by label. */
function parseLinks(value: unknown): StreamerLink[] {
  if (Array.isArray(value)) return value.flatMap(parseLink).slice(0, MAX_LINKS)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value)
    .flatMap(([label, url]) => linkOf(url, label))
    .slice(0, MAX_LINKS)
}

function parseLink(entry: unknown): StreamerLink[] {
  if (typeof entry !== 'object' || entry === null) return linkOf(entry, undefined)
  const label = LABELS.map((key): unknown => Reflect.get(entry, key)).find(cleanTitle)
  return linkOf(Reflect.get(entry, 'url'), label)
}

/** Without a label, the host is shown. */
function linkOf(value: unknown, label: unknown): StreamerLink[] {
  if (typeof value !== 'string' || value.length > MAX_URL_LENGTH) return []
  const url = URL.parse(value)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return []
  if (url.username !== '' || url.password !== '') return []
  return [{ label: cleanTitle(label) ?? url.host, url: url.href }]
}
