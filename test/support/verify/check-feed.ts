// Rules of the W3C feed validator (https://validator.w3.org/feed/docs/) for RSS feeds of this site.
import { SaxesParser } from 'saxes'

interface Element {
  name: string
  attributes: Readonly<Record<string, string>>
  text: string
  children: Element[]
}

/** What is wrong with a feed that is served at this URL; nothing of a valid one. */
export function feedProblems(xml: string, selfUrl: string): string[] {
  const rss = parse(xml)
  const channel = only(rss, 'channel')
  if (rss.attributes['version'] !== '2.0' || channel === undefined) return ['is not RSS 2.0']
  const problems: string[] = []
  const require = (condition: boolean, rule: string): void => {
    if (!condition) problems.push(rule)
  }
  for (const name of ['title', 'link', 'description']) {
    require(textsOf(channel, name).length === 1, `a channel has one ${name}`)
  }
  require(only(channel, 'atom:link')?.attributes['href'] === selfUrl, 'self is the URL of the feed')
  const items = channel.children.filter(({ name }) => name === 'item')
  const guids = items.flatMap((item) => textsOf(item, 'guid'))
  require(new Set(guids).size === items.length, 'each item has a guid of its own')
  for (const item of [channel, ...items]) {
    const links = textsOf(item, 'link')
    require(links.every((link) => /^https?:\/\//.test(link)), 'links are absolute')
    require(textsOf(item, 'title').every((title) => title.trim() !== ''), 'titles are not empty')
    const dates = ['pubDate', 'lastBuildDate'].flatMap((name) => textsOf(item, name))
    require(dates.every(isRfc822Date), 'dates are those of RFC 822')
  }
  return problems
}

/** With the true day of the week. */
function isRfc822Date(date: string): boolean {
  const form = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/
  return form.test(date) && new Date(date).toUTCString() === date
}

function textsOf(parent: Element, wanted: string): string[] {
  return parent.children.filter(({ name }) => name === wanted).map(({ text }) => text)
}

function only(parent: Element, wanted: string): Element | undefined {
  const found = parent.children.filter(({ name }) => name === wanted)
  return found.length === 1 ? found[0] : undefined
}

/** The root element. Throws if the document is not well-formed, or a prefix has no namespace. */
function parse(xml: string): Element {
  const document: Element = { name: '', attributes: {}, text: '', children: [] }
  const open = [document]
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', (error) => {
    throw error
  })
  parser.on('opentag', ({ name, attributes }) => {
    const values = Object.entries(attributes).map(([key, { value }]) => [key, value] as const)
    const element = { name, attributes: Object.fromEntries(values), text: '', children: [] }
    open.at(-1)?.children.push(element)
    open.push(element)
  })
  parser.on('text', (text) => {
    const element = open.at(-1)
    if (element) element.text += text
  })
  parser.on('closetag', () => void open.pop())
  parser.write(xml).close()
  const [root] = document.children
  if (root === undefined) throw new Error('the document is empty')
  return root
}
