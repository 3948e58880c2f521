// VAST responses of the stand-in network by zone id, and what the page must show for each.
import { respondToErrorZone } from './error-cases.ts'
import { ad, errorElement, file, inline, trackedEvents, vast, wrapper } from './vast-documents.ts'
import type { VastResponse } from './vast-response.ts'

export interface VastCase {
  zone: string
  /** File below /media/ that the overlay plays; undefined where no overlay may appear. */
  media: string | undefined
  respond(base: string): Partial<VastResponse>
}

/** Responses that never arrive as a whole: the page waits for them until its limit. */
export const unansweredZones = ['slow-headers', 'slow-body']

/** Longer than any test needs. */
const usual = 'ten.mp4'

/** As networks pass it on to the next one (TCF and GPP, macros in URLs). */
const consentQuery =
  '&gdpr=${GDPR}&gdpr_consent=${GDPR_CONSENT_1111}&gpp=${GPP_STRING_1111}&gpp_sid=${GPP_SID}'

export const vastCases: VastCase[] = [
  shown('plain', usual, (base) => inline(base, { files: [file(base, usual)] })),
  shown('quartiles', usual, (base) =>
    inline(base, { files: [file(base, usual)], events: trackedEvents }),
  ),
  shown('three-files', 'first.mp4', (base) =>
    inline(base, {
      files: ['first.mp4', 'second.mp4', 'third.mp4'].map((name) => file(base, name)),
    }),
  ),
  shown('vpaid-first', usual, (base) =>
    inline(base, {
      files: [
        '<MediaFile delivery="progressive" type="application/javascript" apiFramework="VPAID">' +
          `${base}/media/vpaid.js</MediaFile>`,
        file(base, usual),
      ],
    }),
  ),
  shown('no-type', usual, (base) =>
    inline(base, {
      files: [`<MediaFile delivery="progressive">${base}/media/${usual}</MediaFile>`],
    }),
  ),
  shown('namespace-4', usual, (base) =>
    inline(base, {
      files: [file(base, usual)],
      root: 'xmlns="http://www.iab.com/VAST" version="4.2"',
    }),
  ),
  shown('leading-space', usual, (base) => `\n  ${inline(base, { files: [file(base, usual)] })}`),
  shown('pod', 'first.mp4', (base) =>
    vast(
      ['first.mp4', 'second.mp4']
        .map((name, at) => ad(base, { files: [file(base, name)], sequence: at + 1 }))
        .join(''),
    ),
  ),
  shown('skip-offset', usual, (base) =>
    inline(base, { files: [file(base, usual)], linear: 'skipoffset="00:00:05"' }),
  ),
  shown('wrapper-1', usual, (base) => wrapper(`${base}/v1/vast.php?idzone=plain`, base)),
  shown('wrapper-5', usual, (base) => wrapper(`${base}/v1/vast.php?idzone=wrapper-4`, base)),
  shown('wrapper-relative', usual, (base) => wrapper('vast.php?idzone=plain', base)),
  shown('script-click', usual, (base) =>
    inline(base, { files: [file(base, usual)], click: 'javascript:document.title="broken"' }),
  ),
  shown('consent', usual, (base) =>
    wrapper(`${base}/v1/vast.php?idzone=consent-of-ad${consentQuery}`, base),
  ),
  shown('consent-of-ad', usual, (base) =>
    inline(base, { files: [file(base, usual)], events: ['start'], query: consentQuery }),
  ),
  { zone: 'any-origin', media: usual, respond: (base) => ({ body: plain(base), allow: 'any' }) },
  hidden('empty', () => ({ body: vast('') })),
  hidden('empty-error', (base) => ({
    body: vast(errorElement(base, 'error')),
  })),
  hidden('empty-body', () => ({ body: '' })),
  hidden('truncated', (base) => ({ body: plain(base).slice(0, -40) })),
  hidden('html', () => ({
    type: 'text/html',
    body: '<!doctype html><title>Sorry</title><p>No ads',
  })),
  hidden('no-media-file', (base) => ({ body: inline(base, { files: [] }) })),
  hidden('empty-media-file', (base) => ({
    body: inline(base, {
      files: ['<MediaFile delivery="progressive" type="video/mp4"> </MediaFile>'],
    }),
  })),
  hidden('wrapper-6', (base) => ({ body: wrapper(`${base}/v1/vast.php?idzone=wrapper-5`, base) })),
  hidden('wrapper-loop', (base) => ({
    body: wrapper(`${base}/v1/vast.php?idzone=wrapper-loop`, base),
  })),
  hidden('wrapper-404', (base) => ({
    body: wrapper(`${base}/v1/vast.php?idzone=status-404`, base),
  })),
  hidden('status-204', () => ({ status: 204 })),
  hidden('status-404', () => ({ status: 404, body: 'nothing here' })),
  hidden('status-500', () => ({ status: 500, body: 'broken' })),
  hidden('no-cors', (base) => ({ body: plain(base), allow: 'none' })),
  hidden('slow-headers', () => ({ hold: 'headers' })),
  hidden('slow-body', (base) => ({ body: plain(base), hold: 'body' })),
]

/** Zones that a browser must test: its network stack, XML parser or media engine decides. */
export const browserZones: ReadonlySet<string> = new Set([
  'plain',
  'vpaid-first',
  'namespace-4',
  'leading-space',
  'any-origin',
  'empty',
  'empty-body',
  'truncated',
  'html',
  'status-204',
  'no-cors',
  ...unansweredZones,
])

/** Response to a request. A zone `film-…` plays that file. */
export function chooseVast(zone: string, base: string): VastResponse {
  const defaults: VastResponse = {
    status: 200,
    type: 'text/xml; charset=utf-8',
    body: '',
    hold: 'none',
    allow: 'origin',
  }
  const failing = respondToErrorZone(zone, base)
  if (failing) return { ...defaults, ...failing }
  const found = vastCases.find((one) => one.zone === zone)
  const hops = Number(/^wrapper-(?<hops>[2-4])$/.exec(zone)?.groups?.hops)
  if (hops) {
    return { ...defaults, body: wrapper(`${base}/v1/vast.php?idzone=wrapper-${hops - 1}`, base) }
  }
  if (found) return { ...defaults, ...found.respond(base) }
  const film = /^film-(?<name>.+)$/.exec(zone)?.groups?.name
  if (film === undefined) return { ...defaults, body: vast('') }
  return { ...defaults, body: inline(base, { files: [file(base, film)], events: trackedEvents }) }
}

function shown(zone: string, media: string, body: (base: string) => string): VastCase {
  return { zone, media, respond: (base) => ({ body: body(base) }) }
}

function hidden(zone: string, respond: VastCase['respond']): VastCase {
  return { zone, media: undefined, respond }
}

function plain(base: string): string {
  return inline(base, { files: [file(base, usual)] })
}
