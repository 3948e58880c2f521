// An ad network for tests: script, banners, VAST, videos and beacons on ports of its own. Records
// every request.
import { readFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import path from 'node:path'
import { chooseBanner } from './banner-cases.ts'
import { makeFilms, sendFilm, type Films } from './films.ts'
import { readRequest, type RecordedRequest } from './recorded-request.ts'
import { sendScriptVariant, scriptVariants, type ScriptVariant } from './script-variants.ts'
import { chooseVast } from './vast-cases.ts'

/** Class of the placeholders that the network's script fills. */
export const insClass = 'standin0ad2'

export interface AdNetwork {
  /** Origin of the network. */
  url: string
  /** Origins of networks that serve a different script under the same path. */
  variantUrls: ReadonlyMap<ScriptVariant, string>
  /** All requests since the last reset, in the order of their arrival. */
  requests(path?: string): RecordedRequest[]
  /** The queries of all beacons since then, such as `event=start`. */
  beacons(): string[]
  /** Sends the banners of zone `late` that were requested since the last reset. */
  sendLate(): void
  reset(): void
  close(): Promise<void>
}

type Respond = (request: RecordedRequest, response: ServerResponse) => void | Promise<void>

/** Listens on free ports of the loopback interface. */
export async function startAdNetwork(): Promise<AdNetwork> {
  const films = await makeFilms()
  const script = await readFile(path.join(import.meta.dirname, 'ad-provider.js'), 'utf8')
  let recorded: RecordedRequest[] = []
  let late = Promise.withResolvers<void>()
  const servers: Server[] = []
  const listen = async (respond: Respond): Promise<string> => {
    const { server, url } = await startServer(async (request, response) => {
      recorded.push(request)
      await respond(request, response)
    })
    servers.push(server)
    return url
  }
  const url = await listen((request, response) =>
    respondAsNetwork(request, response, { films, script, late: late.promise }),
  )
  const variants = scriptVariants.map(async (variant) => {
    const send: Respond = (_request, response) => sendScriptVariant(variant, response)
    return [variant, await listen(send)] as const
  })
  const requests = (wanted?: string) =>
    recorded.filter((request) => wanted === undefined || request.path === wanted)
  return {
    url,
    variantUrls: new Map(await Promise.all(variants)),
    requests,
    beacons: () => requests('/px').map(({ query }) => query.toString()),
    sendLate: () => late.resolve(),
    reset() {
      recorded = []
      late = Promise.withResolvers<void>()
    },
    async close() {
      for (const server of servers) server.closeAllConnections()
      await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
    },
  }
}

async function startServer(respond: Respond): Promise<{ server: Server; url: string }> {
  const server = createServer((incoming, response) => {
    readRequest(incoming)
      .then((request) => respond(request, response))
      .catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { server, url: `http://127.0.0.1:${address.port}` }
}

interface NetworkContent {
  films: Films
  script: string
  /** Resolves when the banners of zone `late` may be sent. */
  late: Promise<void>
}

function respondAsNetwork(
  request: RecordedRequest,
  response: ServerResponse,
  { films, script, late }: NetworkContent,
): void | Promise<void> {
  if (request.path.startsWith('/media/')) return sendFilm(films, request, response)
  response.setHeader('cache-control', 'no-store')
  switch (request.path) {
    case '/ad-provider.js': {
      const text = script.replace('NETWORK_ORIGIN', request.base).replace('INS_CLASS', insClass)
      response.setHeader('content-type', 'application/javascript').end(text)
      return
    }
    case '/v1/api.php':
      return sendBanners(request, response, late)
    case '/v1/vast.php':
      return sendVast(request, response)
    case '/creative.svg':
      response.setHeader('content-type', 'image/svg+xml').end(image)
      return
    case '/creative.html':
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Ad</title>An ad')
      return
    default:
      response.writeHead(request.path === '/px' ? 204 : 404).end()
  }
}

const image = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="50"/>'

/**
 * One response for all placeholders of a request: the worst of their zones decides how it is sent.
 */
async function sendBanners(
  request: RecordedRequest,
  response: ServerResponse,
  late: Promise<void>,
): Promise<void> {
  const zones = zonesOf(request.body)
  response.setHeader('access-control-allow-origin', request.headers.origin ?? '*')
  response.setHeader('access-control-allow-credentials', 'true')
  if (zones.includes('hang')) return
  if (zones.includes('error')) return void response.writeHead(500).end('broken')
  response.setHeader('content-type', 'application/json')
  if (zones.includes('malformed')) return void response.end('[{"element":')
  if (zones.includes('late')) await late
  response.end(JSON.stringify(zones.map((zone) => chooseBanner(zone, request.base))))
}

function zonesOf(body: string): string[] {
  const parsed: unknown = JSON.parse(body)
  if (typeof parsed !== 'object' || parsed === null || !('zones' in parsed)) return []
  return Array.isArray(parsed.zones) ? parsed.zones.map(String) : []
}

function sendVast(request: RecordedRequest, response: ServerResponse): void {
  const vast = chooseVast(request.query.get('idzone') ?? '', request.base)
  if (vast.hold === 'headers') return
  if (vast.allow !== 'none') {
    const origin = vast.allow === 'any' ? '*' : (request.headers.origin ?? '*')
    response.setHeader('access-control-allow-origin', origin)
  }
  response.writeHead(vast.status, { 'content-type': vast.type })
  if (vast.hold === 'body') response.write(vast.body.slice(0, vast.body.length / 2))
  else response.end(vast.body)
}
