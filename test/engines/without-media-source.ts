// A reverse proxy that removes MediaSource from the pages of a site, as on phones without it.
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'

const scriptPath = '/without-media-source.js'
/** A file of the same origin: the page's policy allows no inline script. */
const script = 'delete globalThis.MediaSource; delete globalThis.ManagedMediaSource'
const tag = `<script src="${scriptPath}"></script>`

export interface ProxiedSite {
  url: string
  close(): Promise<void>
}

/** Forwards everything to the site at `target`, on a free port; only its HTML is changed. */
export async function proxyWithoutMediaSource(target: string): Promise<ProxiedSite> {
  const server = createServer((incoming, response) => {
    if (incoming.url === scriptPath) {
      response.setHeader('content-type', 'text/javascript').end(script)
    } else forward(target, incoming, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}

function forward(target: string, incoming: IncomingMessage, response: ServerResponse): void {
  const headers = { ...incoming.headers, 'accept-encoding': 'identity' }
  const { method } = incoming
  const outgoing = request(target + incoming.url, { method, headers }, (upstream) => {
    const isPage = upstream.headers['content-type']?.startsWith('text/html') === true
    if (isPage) return void sendPage(upstream, response)
    response.writeHead(upstream.statusCode ?? 502, upstream.headers)
    upstream.pipe(response)
  })
  outgoing.on('error', () => response.destroy())
  response.on('close', () => outgoing.destroy())
  incoming.pipe(outgoing)
}

async function sendPage(upstream: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of upstream) chunks.push(Buffer.from(chunk))
  const html = Buffer.concat(chunks).toString().replace('<head>', `<head>${tag}`)
  const { 'content-length': _length, ...headers } = upstream.headers
  response.writeHead(upstream.statusCode ?? 502, headers).end(html)
}
