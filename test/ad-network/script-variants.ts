// Responses in place of the ad script: what blockers substitute, and failures of the network.
import type { ServerResponse } from 'node:http'

/** `noop` is the substitute of blockers: it loads and does nothing. */
export const scriptVariants = ['noop', 'throwing', 'html', 'gone', 'redirect', 'hanging'] as const
export type ScriptVariant = (typeof scriptVariants)[number]

/** Responds to any request with that variant. */
export function sendScriptVariant(variant: ScriptVariant, response: ServerResponse): void {
  switch (variant) {
    case 'noop':
      response.setHeader('content-type', 'text/javascript').end('(() => {})()')
      return
    case 'throwing':
      response.setHeader('content-type', 'text/javascript').end(throwing)
      return
    case 'html':
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Sorry</title>')
      return
    case 'gone':
      response.writeHead(404).end()
      return
    case 'redirect':
      response.writeHead(302, { location: 'https://example.com/ad-provider.js' }).end()
      return
    case 'hanging':
  }
}

/** Throws on load, and again on each command. */
const throwing = `window.AdProvider = { push() { throw new Error('stand-in push') } }
throw new Error('stand-in start')`
