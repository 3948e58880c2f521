// The document inside a banner's frame, and the policy it is shut in with. Pure.
import type { BannerCreative } from './creatives.ts'
import { clickPath, mediaPath } from './promo-paths.ts'

const STYLE = [
  // A frame of another colour scheme than its page is painted white.
  ':root{color-scheme:light dark}',
  'html,body{margin:0;height:100%;background:transparent;overflow:hidden}',
  'a,img{display:block;width:100%;height:100%}',
  'img{object-fit:contain}',
].join('')
/** What a page of the operator's writes where a click should lead. */
const CLICK_MARK = '{click}'

/**
 * The frame's HTML: an image as a link, or the creative's own page with `{click}` replaced.
 *
 * @param page text of the creative's file, where it is a page
 */
export function formatFrame(
  creative: BannerCreative,
  { zone, page }: { zone: string; page: string | undefined },
): string {
  const click = escapeHtml(clickPath({ creative: creative.id, zone }))
  if (page !== undefined) return page.replaceAll(CLICK_MARK, () => click)
  const alt = escapeHtml(creative.alt)
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${alt}</title><style>${STYLE}</style></head>`,
    `<body><a href="${click}" target="_blank" rel="noopener sponsored nofollow">`,
    `<img src="${mediaPath(creative.id)}" alt="${alt}"></a></body></html>`,
  ].join('\n')
}

/**
 * Content-Security-Policy of a frame: no script, no request elsewhere, its own styles; it may open its link and nothing
 * else. The pages of this site, and of `embedders`, may show it.
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

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
