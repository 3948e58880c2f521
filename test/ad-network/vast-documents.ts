// Builds VAST documents. Their beacons go to `/px`, with the code of a failure in `error`.

export const trackedEvents = [
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
  /** Added to the URLs of `events`. */
  query?: string
  root?: string
  /** Attributes of Linear. */
  linear?: string
  click?: string
  sequence?: number
}

export function inline(base: string, shape: InlineAd): string {
  return vast(ad(base, shape), shape.root)
}

export function ad(base: string, shape: InlineAd): string {
  const { files, events = [], query = '', linear = '', click, sequence } = shape
  const tracking = events
    .map(
      (name) => `<Tracking event="${name}"><![CDATA[${base}/px?event=${name}${query}]]></Tracking>`,
    )
    .join('')
  const through = click ?? `${base}/landing`
  const creative = `<Creative><Linear ${linear}><Duration>00:00:02</Duration>
    <TrackingEvents>${tracking}</TrackingEvents>
    <VideoClicks><ClickThrough><![CDATA[${through}]]></ClickThrough>
    <ClickTracking><![CDATA[${base}/px?event=click]]></ClickTracking></VideoClicks>
    <MediaFiles>${files.join('')}</MediaFiles></Linear></Creative>`
  return adWith(base, creative, sequence ? `sequence="${sequence}"` : '')
}

/** An inline ad with these creatives, and attributes of `Ad`. */
export function adWith(base: string, creatives: string, attributes = ''): string {
  return `<Ad id="1" ${attributes}><InLine><AdSystem>Stand-in</AdSystem>
    <AdTitle>Ad</AdTitle>${errorElement(base, 'error')}
    <Impression><![CDATA[ ${base}/px?event=impression ]]></Impression>
    <Creatives>${creatives}</Creatives></InLine></Ad>`
}

/** `error`: name of the beacon with the code of a failure. */
export function wrapper(
  target: string,
  base: string,
  { error = 'wrapper-error', creatives = '' } = {},
): string {
  const wrapped = encodeURIComponent(target)
  return vast(`<Ad id="w"><Wrapper><AdSystem>Stand-in</AdSystem>
    <VASTAdTagURI><![CDATA[${target}]]></VASTAdTagURI>
    ${errorElement(base, error)}
    <Impression><![CDATA[${base}/px?event=wrapper-impression&of=${wrapped}]]></Impression>
    <Creatives>${creatives}</Creatives></Wrapper></Ad>`)
}

export function errorElement(base: string, name: string): string {
  return `<Error><![CDATA[${base}/px?${name}=[ERRORCODE]]]></Error>`
}

export function file(base: string, name: string): string {
  return `<MediaFile delivery="progressive" type="video/mp4" width="160" height="90">
    <![CDATA[ ${base}/media/${name} ]]></MediaFile>`
}

export function vast(content: string, root = 'version="3.0"'): string {
  return `<?xml version="1.0" encoding="UTF-8"?><VAST ${root}>${content}</VAST>`
}
