// Shapes of single values in the configuration, with the text of each error.
import { z } from 'zod'
import { parseS3Url } from './s3-url.ts'
import { parseTrustedProxies } from './trusted-proxies.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

export const string = (message: string) =>
  z.string({ error: message }).min(1, message).max(4096, message)

export const httpUrl = string('must be an http or https URL').refine(isHttpUrl, {
  error: 'must be an http or https URL',
})

export const location = string('must be a folder or s3://bucket/prefix').refine(
  (value) => !value.includes('://') || parseS3Url(value) !== undefined,
  { error: 'must be a folder or s3://bucket/prefix' },
)

const hasCredentials = { error: 'must not contain a user name or password' }

/** A user name or password would be in the log, and `fetch` refuses both. */
export const cacheUrl = httpUrl.refine(hasNoCredentials, hasCredentials)

/** The start of other URLs, which visitors see. */
export const siteUrl = httpUrl
  .refine(hasNoCredentials, hasCredentials)
  .refine((value) => !/[\s?#]/.test(value), { error: 'must not contain white space, ? or #' })

export const origin = string('must be an origin such as https://a.example, or *').refine(isOrigin, {
  error: 'must be an origin such as https://a.example, or *',
})

const hostAndPortError = 'must be host:port, such as 127.0.0.1:9090'

export const hostAndPort = string(hostAndPortError)
  .regex(/^(?:\[[0-9a-f:]+\]|[^\s:/]+):\d{1,5}$/i, hostAndPortError)
  .refine((value) => URL.canParse(`http://${value}`), hostAndPortError)

export const hostName = string('must be a host name without a port').regex(/^[\w.-]{1,253}$/, {
  error: 'must be a host name without a port',
})

export const operatorToken = string('must have 16 to 200 characters')
  .min(16, 'must have 16 to 200 characters')
  .max(200, 'must have 16 to 200 characters')

export const trustedProxies = z.unknown().transform((value, context): TrustedProxies => {
  const parsed = parseTrustedProxies(value)
  if (parsed !== undefined) return parsed
  const message = 'must be true, false, a hop count, or addresses and CIDR ranges (comma-separated)'
  context.addIssue({ code: 'custom', message })
  return false
})

const adHostError =
  'must be "https://a.example", or { "url": "http://…", "allowPrivate": true } ' +
  'for a host in a private network'

/** An ad host: a URL, or an object whose `allowPrivate` permits a private address. */
export const adHost = z.union(
  [
    string(adHostError).refine((url) => isHttpUrl(url) && /^https:/i.test(url), adHostError),
    z.strictObject({ url: httpUrl, allowPrivate: z.boolean().default(false) }),
  ],
  { error: adHostError },
)

export function isHttpUrl(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:')
}

function hasNoCredentials(value: string): boolean {
  const url = URL.parse(value)
  return url === null || url.username + url.password === ''
}

function isOrigin(value: string): boolean {
  return value === '*' || (isHttpUrl(value) && URL.parse(value)?.origin === value)
}
