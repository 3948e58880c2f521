// Causes of each error code that the page sends, each after a wrapper of the stand-in network.
import type { SentErrorCode } from '../../web/ads/preroll/vast-error.ts'
import { adWith, errorElement, file, inline, vast, wrapper } from './vast-documents.ts'
import type { VastResponse } from './vast-response.ts'

export interface ErrorCase {
  cause: string
  /** What the wrapper leads to. */
  respond(base: string): Partial<VastResponse>
  /** Beacons that get the code, with that of the wrapper: of the ad, or of an inner wrapper. */
  beacons: ('error' | 'inner-error')[]
}

const linear = (files: string) => `<Creative><Linear><MediaFiles>${files}</MediaFiles></Linear>
  </Creative>`
const nonlinear = `<Creative><NonLinearAds><NonLinear width="300" height="50"/></NonLinearAds>
  </Creative>`
const companions = (required: string) =>
  `<Creative><CompanionAds required="${required}"><Companion width="300" height="250"/>
  </CompanionAds></Creative>`
const interactive = `<InteractiveCreativeFile type="text/html" apiFramework="SIMID">
  https://ads.example/simid.html</InteractiveCreativeFile>`
const vpaid = `<MediaFile delivery="progressive" type="application/javascript" apiFramework="VPAID">
  https://ads.example/vpaid.js</MediaFile>`
const flash = `<MediaFile delivery="progressive" type="video/x-flv">https://ads.example/a.flv
  </MediaFile>`
const audio = `<MediaFile delivery="progressive" type="audio/mpeg">https://ads.example/a.mp3
  </MediaFile>`

/** Every code has at least one cause: the compiler requires it. */
export const errorCases: Record<SentErrorCode, ErrorCase[]> = {
  100: [
    failing('truncated', (base) => inline(base, { files: [] }).slice(0, -40), []),
    failing('plain-text', () => 'No ads today.', []),
  ],
  101: [
    failing('page', () => '<html><body/></html>', []),
    failing('unknown-ad', (base) => vast(`${errorElement(base, 'error')}<Ad><Other/></Ad>`)),
    failing('no-creative', (base) => vast(adWith(base, ''))),
    failing('no-next-document', (base) => wrapper('', base, inner), ['inner-error']),
  ],
  102: [
    failing('vast-1', () => '<VideoAdServingTemplate/>', []),
    failing('version-1', () => vast('', 'version="1.0"'), []),
  ],
  200: [
    failing('audio-ad', (base) => vast(adWith(base, linear(ten(base)), 'adType="audio"'))),
    failing('companions-only', (base) => vast(adWith(base, companions('none')))),
  ],
  201: [failing('nonlinear-only', (base) => vast(adWith(base, nonlinear)))],
  300: [
    failing('next-is-script', (base) => wrapper('javascript:void 0', base, inner), ['inner-error']),
  ],
  301: [
    { cause: 'next-is-404', respond: () => ({ status: 404, body: 'no' }), beacons: [] },
    { cause: 'next-is-500', respond: () => ({ status: 500, body: 'no' }), beacons: [] },
    { cause: 'next-without-cors', respond: () => ({ body: vast(''), allow: 'none' }), beacons: [] },
    { cause: 'next-hangs', respond: () => ({ hold: 'headers' }), beacons: [] },
  ],
  302: [failing('cycle', (base) => wrapper(urlOf(base, 'cycle'), base, inner), ['inner-error'])],
  303: [
    failing('no-ad', (base) => vast(errorElement(base, 'error'))),
    failing('empty-body', () => '', []),
  ],
  304: [failing('no-progress', (base) => vast(adWith(base, linear(ten(base)))))],
  400: [failing('hidden', (base) => vast(adWith(base, linear(ten(base)))))],
  401: [
    failing('file-is-404', (base) => vast(adWith(base, linear(file(base, 'missing.mp4?cors'))))),
  ],
  402: [failing('file-hangs', (base) => vast(adWith(base, linear(file(base, 'hanging.mp4')))))],
  403: [
    failing('vpaid-only', (base) => vast(adWith(base, linear(vpaid)))),
    failing('flash-only', (base) => vast(adWith(base, linear(flash)))),
    failing('audio-file-only', (base) => vast(adWith(base, linear(audio)))),
    failing('no-media-file', (base) => vast(adWith(base, linear('')))),
  ],
  405: [
    failing('file-is-text', (base) => vast(adWith(base, linear(file(base, 'text.mp4?cors'))))),
    failing('file-is-corrupt', (base) => vast(adWith(base, linear(file(base, 'corrupt.mp4'))))),
    failing('file-hidden-by-cors', (base) => vast(adWith(base, linear(file(base, 'missing.mp4'))))),
  ],
  409: [failing('interactive', (base) => vast(adWith(base, linear(interactive + ten(base)))))],
  602: [
    failing('all-companions', (base) => vast(adWith(base, linear(ten(base)) + companions('all')))),
    failing(
      'companions-of-wrapper',
      (base) => wrapper(base, base, { ...inner, creatives: companions('any') }),
      ['inner-error'],
    ),
  ],
  900: [failing('broken-parser', (base) => vast(adWith(base, linear(ten(base)))), [])],
}

/** Causes that need no browser, of codes that have another cause in the browser. */
export const simpleCauses: ReadonlySet<string> = new Set([
  'unknown-ad',
  'no-creative',
  'no-next-document',
  'version-1',
  'companions-only',
  'next-is-500',
  'empty-body',
  'vpaid-only',
  'audio-file-only',
  'no-media-file',
  'companions-of-wrapper',
])

/** Response for the zone `error-{cause}`, a wrapper, and for what it leads to. */
export function respondToErrorZone(zone: string, base: string): Partial<VastResponse> | undefined {
  const { kind, cause } = /^(?<kind>error|cause)-(?<cause>.+)$/.exec(zone)?.groups ?? {}
  const found = Object.values(errorCases)
    .flat()
    .find((one) => one.cause === cause)
  if (!found) return undefined
  return kind === 'cause' ? found.respond(base) : { body: wrapper(urlOf(base, found.cause), base) }
}

const inner = { error: 'inner-error' }

function failing(
  cause: string,
  body: (base: string) => string,
  beacons: ErrorCase['beacons'] = ['error'],
): ErrorCase {
  return { cause, respond: (base) => ({ body: body(base) }), beacons }
}

function ten(base: string): string {
  return file(base, 'ten.mp4')
}

function urlOf(base: string, cause: string): string {
  return `${base}/v1/vast.php?idzone=cause-${cause}`
}
