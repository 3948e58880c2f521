// Requests every URL of a site that its responses contain, whatever their form.

export interface Visited {
  /** The first response that contains the URL. */
  from: string
  status: number
}

export interface FollowOptions {
  /** Of the server, without a slash at the end. */
  origin: string
  /** Other origins that are this server for visitors. */
  publicOrigins: readonly string[]
  /** Paths of the first requests. */
  seeds: readonly string[]
}

/** Everything that is requested, by URL at `origin`. Redirects are not followed. */
export async function followLinks(options: FollowOptions): Promise<Map<string, Visited>> {
  const { origin, seeds } = options
  const visited = new Map<string, Visited>()
  const queue = seeds.map((seed) => ({ url: origin + seed, from: 'the test' }))
  for (const { url, from } of queue) {
    if (visited.has(url)) continue
    const response = await fetch(url, { redirect: 'manual' })
    const body = Buffer.from(await response.arrayBuffer()).toString('utf8')
    visited.set(url, { from, status: response.status })
    const found = response.ok ? findLinks(body, response) : []
    queue.push(...found.map((link) => ({ url: resolve(link, url, options), from: url })))
  }
  return visited
}

/** The URLs of this site are resolved, those of others become that of the response itself. */
function resolve(link: string, base: string, { origin, publicOrigins }: FollowOptions): string {
  const url = new URL(link.replaceAll('{zone}', 'video'), base)
  url.hash = ''
  const isOwn = url.origin === origin || publicOrigins.includes(url.origin)
  return isOwn ? origin + url.pathname + url.search : base
}

function findLinks(body: string, { headers }: Response): string[] {
  const type = headers.get('content-type') ?? ''
  if (type.includes('mpegurl')) return matches(body, /^[^#\s].*$|(?<=URI=")[^"]+/gm)
  if (type.includes('vtt')) return matches(body, /^tile-\S+$/gm)
  if (type.includes('javascript'))
    return matches(body, /(?<=["'`])\.?\/?[\w.-]+-[\w-]{8}\.(?:js|css)/g)
  if (type.includes('text/plain')) return matches(body, /https?:\S+/g)
  if (!/html|json|xml/.test(type)) return []
  const text = body.replaceAll('&amp;', '&').replace(/ data-base-path="[^"]*"/, '')
  const absolute = matches(text, /https?:\/\/[^\s"'<>\\)\]]+/g)
  // After a quote, in a CDATA section, or alone in an element: not the end of a tag.
  return [...absolute, ...matches(text, /(?<=["'>[])\/(?!\/)(?=[\w"'])[^\s"'<>\]]*/g)]
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([match]) => match)
}
