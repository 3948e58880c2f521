// Formats VAST for a house pre-roll: one inline linear ad with one media file (IAB VAST 4.2,
// chapter 3). Pure.
import { escapeMarkup } from '../../../../shared/escape-markup.ts'
import type { VideoCreative } from './creatives.ts'
import type { PromoPaths } from './promo-paths.ts'

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
const ROOT = '<VAST version="4.2" xmlns="http://www.iab.com/VAST">'

/** Tracking events of a linear ad (VAST 4.2, 3.14.1), in playback order. */
const TRACKED = ['start', 'firstQuartile', 'midpoint', 'thirdQuartile', 'complete', 'skip']

/** The response if no ad fits: an empty root element (VAST 4.2, 2.3.6.4). */
export const EMPTY_VAST = `${HEAD}\n${ROOT}</VAST>\n`

/** A response with one ad. URLs are paths relative to the host that served the document. */
export function formatVast(
  video: VideoCreative,
  { zone, paths }: { zone: string; paths: PromoPaths },
): string {
  const place = { creative: video.id, zone }
  const busted = (event: string): string =>
    cdata(`${paths.event(event, place)}&nonce=[CACHEBUSTING]`)
  const type = video.file.endsWith('.webm') ? 'video/webm' : 'video/mp4'
  return `${HEAD}
${ROOT}
  <Ad id="${escapeMarkup(video.id)}">
    <InLine>
      <AdSystem>Aftercast</AdSystem>
      <AdTitle>${escapeMarkup(video.alt)}</AdTitle>
      <AdServingId>${escapeMarkup(video.id)}</AdServingId>
      <Impression id="house">${busted('impression')}</Impression>
      <Creatives>
        <Creative id="${escapeMarkup(video.id)}">
          <UniversalAdId idRegistry="unknown">${escapeMarkup(video.id)}</UniversalAdId>
          <Linear>
            <Duration>${formatDuration(video.durationSeconds)}</Duration>
            <TrackingEvents>
${TRACKED.map((event) => `              <Tracking event="${event}">${busted(event)}</Tracking>`).join('\n')}
            </TrackingEvents>
            <VideoClicks>
              <ClickThrough>${cdata(paths.click(place))}</ClickThrough>
            </VideoClicks>
            <MediaFiles>
              <MediaFile delivery="progressive" type="${type}" width="${video.width}" height="${video.height}">${cdata(paths.media(video.id))}</MediaFile>
            </MediaFiles>
          </Linear>
        </Creative>
      </Creatives>
    </InLine>
  </Ad>
</VAST>
`
}

/** `HH:MM:SS.mmm` (VAST 4.2, 3.9). */
function formatDuration(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000)
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const hours = two(milliseconds / 3_600_000)
  const minutes = two((milliseconds / 60_000) % 60)
  const fraction = String(milliseconds % 1000).padStart(3, '0')
  return `${hours}:${minutes}:${two((milliseconds / 1000) % 60)}.${fraction}`
}

/** Percent-encoded paths never contain `]]>`, which would end the section. */
function cdata(path: string): string {
  return `<![CDATA[${path}]]>`
}
