// VAST responses of the stand-in network by zone id, and what the page must show for each.

/**
 * `hold`: sends nothing at all (`headers`), or nothing after the first half of the body (`body`).
 */
export interface VastResponse {
  status: number
  type: string
  body: string
  hold: 'none' | 'headers' | 'body'
  /** Allowed by CORS: the origin of the request, any, or none. */
  allow: 'origin' | 'any' | 'none'
}

export interface VastCase {
  zone: string
  /** File below /media/ that the overlay plays; undefined where no overlay may appear. */
  media: string | undefined
  respond(base: string): Partial<VastResponse>
}

/** Longer than any test needs. */
const usual = 'ten.mp4'

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
  { zone: 'any-origin', media: usual, respond: (base) => ({ body: plain(base), allow: 'any' }) },
  hidden('empty', () => ({ body: vast('') })),
  hidden('empty-error', (base) => ({
    body: vast(`<Error><![CDATA[${base}/px?error=[ERRORCODE]]]></Error>`),
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

/** Response to a request. A zone `film-…` plays that file. */
export function chooseVast(zone: string, base: string): VastResponse {
  const defaults: VastResponse = {
    status: 200,
    type: 'text/xml; charset=utf-8',
    body: '',
    hold: 'none',
    allow: 'origin',
  }
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

const trackedEvents = [
  'creativeView',
  'start',
  'firstQuartile',
  'midpoint',
  'thirdQuartile',
  'complete',
  'skip',
  'closeLinear',
]

interface InlineAd {
  files: string[]
  events?: string[]
  root?: string
  /** Attributes of Linear. */
  linear?: string
  click?: string
  sequence?: number
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

function inline(base: string, shape: InlineAd): string {
  return vast(ad(base, shape), shape.root)
}

function ad(base: string, { files, events = [], linear = '', click, sequence }: InlineAd): string {
  const tracking = events
    .map((name) => `<Tracking event="${name}"><![CDATA[${base}/px?event=${name}]]></Tracking>`)
    .join('')
  const through = click ?? `${base}/landing`
  const order = sequence ? ` sequence="${sequence}"` : ''
  return `<Ad id="1"${order}><InLine><AdSystem>Stand-in</AdSystem>
    <AdTitle>Ad</AdTitle><Error><![CDATA[${base}/px?error=[ERRORCODE]]]></Error>
    <Impression><![CDATA[ ${base}/px?event=impression ]]></Impression>
    <Creatives><Creative><Linear ${linear}><Duration>00:00:02</Duration>
    <TrackingEvents>${tracking}</TrackingEvents>
    <VideoClicks><ClickThrough><![CDATA[${through}]]></ClickThrough>
    <ClickTracking><![CDATA[${base}/px?event=click]]></ClickTracking></VideoClicks>
    <MediaFiles>${files.join('')}</MediaFiles></Linear></Creative></Creatives></InLine></Ad>`
}

function wrapper(target: string, base: string): string {
  const wrapped = encodeURIComponent(target)
  return vast(`<Ad id="w"><Wrapper><AdSystem>Stand-in</AdSystem>
    <VASTAdTagURI><![CDATA[${target}]]></VASTAdTagURI>
    <Error><![CDATA[${base}/px?wrapper-error=[ERRORCODE]]]></Error>
    <Impression><![CDATA[${base}/px?event=wrapper-impression&of=${wrapped}]]></Impression>
    </Wrapper></Ad>`)
}

function file(base: string, name: string): string {
  return `<MediaFile delivery="progressive" type="video/mp4" width="160" height="90">
    <![CDATA[ ${base}/media/${name} ]]></MediaFile>`
}

function vast(content: string, root = 'version="3.0"'): string {
  return `<?xml version="1.0" encoding="UTF-8"?><VAST ${root}>${content}</VAST>`
}
