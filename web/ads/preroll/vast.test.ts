// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { CostCounter } from '../../../test/support/cost/count-cost.ts'
import { findSlowText } from '../../../test/support/cost/find-slow-text.ts'
import { VastError } from './vast-error.ts'
import { parseVast } from './vast.ts'
import type { InlineAd, WrapperAd } from './vast.ts'

const base = 'https://ads.example/v1/vast?idzone=3'

function inline(content: string, root = '<VAST version="3.0">'): string {
  return `${root}<Ad id="1"><InLine>${content}</InLine></Ad></VAST>`
}

function linear(content: string, attributes = ''): string {
  return inline(
    `<Creatives><Creative><Linear ${attributes}>${content}</Linear></Creative></Creatives>`,
  )
}

function media(content: string): string {
  return linear(`<MediaFiles>${content}</MediaFiles>`)
}

function firstInline(text: string): InlineAd {
  const ad = parseVast(text, base).ads[0]
  if (ad?.kind !== 'inline') throw new Error('no inline ad')
  return ad
}

function firstWrapper(content: string, attributes = ''): WrapperAd {
  const text = `<VAST version="3.0"><Ad><Wrapper ${attributes}>${content}</Wrapper></Ad></VAST>`
  const ad = parseVast(text, base).ads[0]
  if (ad?.kind !== 'wrapper') throw new Error('no wrapper')
  return ad
}

function codeOf(text: string): number | undefined {
  try {
    parseVast(text, base)
    return undefined
  } catch (error) {
    return error instanceof VastError ? error.code : undefined
  }
}

test.each([
  '<VAST version="2.0">',
  '<VAST version="3.0" xmlns:xs="http://www.w3.org/2001/XMLSchema">',
  '<VAST version="4.2" xmlns="http://www.iab.com/VAST">',
  '<VAST>',
])('reads an ad in %s', (root) => {
  const text = inline(
    `<Creatives><Creative><Linear><MediaFiles>
    <MediaFile type="video/mp4">https://cdn.example/a.mp4</MediaFile>
    </MediaFiles></Linear></Creative></Creatives>`,
    root,
  )
  expect(firstInline(text).linears[0]?.mediaFiles).toEqual([
    { url: 'https://cdn.example/a.mp4', type: 'video/mp4', apiFramework: undefined },
  ])
})

test('reads an ad with a namespace prefix', () => {
  const text = `<v:VAST xmlns:v="http://www.iab.com/VAST" version="4.1"><v:Ad><v:InLine>
    <v:Impression>/i</v:Impression></v:InLine></v:Ad></v:VAST>`
  expect(firstInline(text).impressionUrls).toEqual(['https://ads.example/i'])
})

test('reads CDATA with white space around, and white space before the XML declaration', () => {
  const file = '<MediaFile>\n <![CDATA[ https://cdn.example/a.mp4?x=1&y=2 ]]>\n</MediaFile>'
  const text = `\n\n <?xml version="1.0"?>${media(file)}`
  expect(firstInline(text).linears[0]?.mediaFiles[0]?.url).toBe('https://cdn.example/a.mp4?x=1&y=2')
})

test('resolves relative URLs against the URL of the document', () => {
  const text = media('<MediaFile>../media/a.mp4</MediaFile>')
  expect(firstInline(text).linears[0]?.mediaFiles[0]?.url).toBe('https://ads.example/media/a.mp4')
})

test('reads media files in order, with type and framework, and drops those without a URL', () => {
  const text = media(
    `<MediaFile apiFramework="VPAID" type="application/javascript">
      https://cdn.example/a.js</MediaFile>
    <MediaFile type="video/mp4"></MediaFile><MediaFile>data:video/mp4,x</MediaFile>
    <MediaFile type=" video/mp4 ">https://cdn.example/b.mp4</MediaFile>`,
  )
  expect(firstInline(text).linears[0]?.mediaFiles).toEqual([
    {
      url: 'https://cdn.example/a.js',
      type: 'application/javascript',
      apiFramework: 'VPAID',
    },
    { url: 'https://cdn.example/b.mp4', type: 'video/mp4', apiFramework: undefined },
  ])
})

test('drops a click-through that is not http or https', () => {
  const text = linear(
    `<VideoClicks><ClickThrough>javascript:alert(1)</ClickThrough>
    <ClickTracking>/c</ClickTracking></VideoClicks>`,
  )
  expect(firstInline(text).linears[0]).toMatchObject({
    clickThroughUrl: undefined,
    clickTrackingUrls: ['https://ads.example/c'],
  })
})

test('reads impressions, errors and tracking with offsets, and does not replace macros', () => {
  const text = inline(
    `<Error>https://e.example/?c=[ERRORCODE]</Error><Impression>about:blank</Impression>
    <Impression>https://i.example/[CACHEBUSTING]</Impression>
    <Creatives><Creative><Linear skipoffset="00:00:05">
    <Duration>00:01:30.500</Duration><TrackingEvents>
    <Tracking event="start">/s</Tracking>
    <Tracking event="progress" offset="00:00:10">/p10</Tracking>
    <Tracking event="progress" offset="25%">/p25</Tracking>
    <Tracking event="mute">ftp://x/</Tracking><Tracking>/none</Tracking>
    </TrackingEvents></Linear></Creative></Creatives>`,
  )
  expect(firstInline(text)).toEqual({
    kind: 'inline',
    errorUrls: ['https://e.example/?c=[ERRORCODE]'],
    impressionUrls: ['https://i.example/[CACHEBUSTING]'],
    unverifiedUrls: [],
    requiresCompanions: false,
    isAudio: false,
    otherCreatives: 'none',
    linears: [
      {
        tracking: [
          { event: 'start', url: 'https://ads.example/s', offset: undefined },
          { event: 'progress', url: 'https://ads.example/p10', offset: { seconds: 10 } },
          { event: 'progress', url: 'https://ads.example/p25', offset: { share: 0.25 } },
        ],
        clickTrackingUrls: [],
        clickThroughUrl: undefined,
        mediaFiles: [],
        durationSeconds: 90.5,
        isSkippable: true,
        isInteractive: false,
      },
    ],
  })
})

test('reads a wrapper', () => {
  const wrapper = firstWrapper(
    `<VASTAdTagURI><![CDATA[ next?a=1&b=2 ]]></VASTAdTagURI>
    <Impression>/i</Impression><Error>/e</Error><Creatives><Creative><Linear>
    <TrackingEvents><Tracking event="complete">/done</Tracking></TrackingEvents>
    </Linear></Creative></Creatives>`,
  )
  expect(wrapper).toMatchObject({
    nextUrl: 'https://ads.example/v1/next?a=1&b=2',
    hasNext: true,
    impressionUrls: ['https://ads.example/i'],
    errorUrls: ['https://ads.example/e'],
    followsWrappers: true,
    tracking: [{ event: 'complete', url: 'https://ads.example/done' }],
  })
})

test('reads `followAdditionalWrappers`', () => {
  const next = '<VASTAdTagURI>/n</VASTAdTagURI>'
  expect(firstWrapper(next, 'followAdditionalWrappers="false"').followsWrappers).toBe(false)
  expect(firstWrapper(next, 'followAdditionalWrappers="true"').followsWrappers).toBe(true)
})

test('reads a document without ads, with its error URLs', () => {
  expect(parseVast('<VAST version="3.0"><Error>/none</Error></VAST>', base)).toEqual({
    errorUrls: ['https://ads.example/none'],
    ads: [],
    hasUnknownAd: false,
  })
})

test('reads at most a hundred URLs of one kind', () => {
  const text = inline('<Impression>/i</Impression>'.repeat(5000))
  expect(firstInline(text).impressionUrls).toHaveLength(100)
})

test('rejects a truncated document, even if a part is readable', () => {
  const whole = media('<MediaFile>https://cdn.example/a.mp4</MediaFile>')
  expect(codeOf(whole.slice(0, -20))).toBe(100)
})

test.each([
  ['an unescaped ampersand', '<VAST><Error>https://e.example/?a=1&b=2</Error></VAST>', 100],
  ['plain text', 'no ads today', 100],
  ['entities', '<!DOCTYPE VAST [<!ENTITY a "aaaa">]><VAST>&a;</VAST>', 100],
  ['a page', '<html><body/></html>', 101],
  ['VAST 1', '<VideoAdServingTemplate/>', 102],
  ['VAST 1 by its version', '<VAST version="1.0"/>', 102],
])('rejects %s', (_what, text, code) => {
  expect(codeOf(text)).toBe(code)
})

test('costs grow linearly with the document', () => {
  const counter = new CostCounter()
  const tokens = [
    '<Ad>',
    '</Ad>',
    '<InLine>',
    '<Creatives>',
    '<Linear>',
    '<Tracking event="start">',
  ]
    .concat(['<MediaFile type="video/mp4">', '</MediaFile>', '<![CDATA[', ']]>', '<!--', '-->'])
    .concat(['<', '>', '/', '"', '=', ' ', '\n', 'a', '&amp;', '&', '[', 'https://a.example/'])
  const slow = findSlowText(counter, (text) => parseVast(text, base), tokens)
  counter.close()
  expect(slow).toBeUndefined()
})
