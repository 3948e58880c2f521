// A reverse proxy before the site that takes MediaSource away from its pages, as on phones that never had it.
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

/** Passes everything on to the site at `target`, on a free port; only its HTML is changed. */
export async function proxyWithoutMediaSource(target: string): Promise<ProxiedSite> {
  const server = createServer((asked, answer) => {
    if (asked.url === scriptPath) answer.setHeader('content-type', 'text/javascript').end(script)
    else pass(target, asked, answer)
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

function pass(target: string, asked: IncomingMessage, answer: ServerResponse): void {
  const headers = { ...asked.headers, 'accept-encoding': 'identity' }
  const forward = request(target + asked.url, { method: asked.method, headers }, (got) => {
    const isPage = got.headers['content-type']?.startsWith('text/html') === true
    if (isPage) return void sendPage(got, answer)
    answer.writeHead(got.statusCode ?? 502, got.headers)
    got.pipe(answer)
  })
  forward.on('error', () => answer.destroy())
  answer.on('close', () => forward.destroy())
  asked.pipe(forward)
}

async function sendPage(got: IncomingMessage, answer: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of got) chunks.push(Buffer.from(chunk))
  const html = Buffer.concat(chunks).toString().replace('<head>', `<head>${tag}`)
  const { 'content-length': _length, ...headers } = got.headers
  answer.writeHead(got.statusCode ?? 502, headers).end(html)
}
