// Formats a banner's frame document and its Content-Security-Policy. Pure.
import { escapeMarkup } from '../../../../shared/escape-markup.ts'
import type { BannerCreative } from './creatives.ts'
import type { PromoPaths } from './promo-paths.ts'

const STYLE = [
  // A frame with another colour scheme than its page gets a white background.
  ':root{color-scheme:light dark}',
  'html,body{margin:0;height:100%;background:transparent;overflow:hidden}',
  'a,img{display:block;width:100%;height:100%}',
  'img{object-fit:contain}',
].join('')
/** Placeholder for the click URL in an operator's page. */
const CLICK_MARK = '{click}'

/**
 * The frame's HTML: an image as a link, or the creative's page with `{click}` replaced.
 *
 * @param page the creative's HTML, if it is a page
 */
export function formatFrame(
  creative: BannerCreative,
  { zone, page, paths }: { zone: string; page: string | undefined; paths: PromoPaths },
): string {
  const click = escapeMarkup(paths.click({ creative: creative.id, zone }))
  if (page !== undefined) return page.replaceAll(CLICK_MARK, () => click)
  const alt = escapeMarkup(creative.alt)
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<title>${alt}</title><style>${STYLE}</style></head>`,
    `<body><a href="${click}" target="_blank" rel="noopener sponsored nofollow">`,
    `<img src="${paths.media(creative.id)}" alt="${alt}"></a></body></html>`,
  ].join('\n')
}

/**
 * Content-Security-Policy of a frame: no scripts, no requests to other origins, inline styles; only
 * its link may be opened. It may be embedded by this site and by `embedders`.
 */
export function formatFramePolicy(embedders: readonly string[]): string {
  return [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "media-src 'self' data:",
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${["'self'", ...embedders].join(' ')}`,
    'sandbox allow-popups allow-popups-to-escape-sandbox',
  ].join('; ')
}
