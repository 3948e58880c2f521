// Banners of the stand-in network by zone id.

/** Element that the network's script inserts into the page. */
export interface BannerCreative {
  element: 'iframe' | 'img' | 'video'
  attributes: Record<string, string>
}

const size = { width: '300', height: '50' }
const sandbox =
  'allow-forms allow-pointer-lock allow-popups allow-popups-to-escape-sandbox allow-scripts'

/** The creative of a zone; null where the network has none. */
export function chooseBanner(zone: string, origin: string): BannerCreative | null {
  const frame = { ...size, sandbox, title: 'Stand-in ad' }
  switch (zone) {
    case 'frame':
    case 'late':
      return { element: 'iframe', attributes: { ...frame, srcdoc: '<p>An ad</p>' } }
    case 'linked-frame':
      return { element: 'iframe', attributes: { ...frame, src: `${origin}/creative.html` } }
    case 'image':
      return {
        element: 'img',
        attributes: { ...size, src: `${origin}/creative.svg`, alt: 'An ad' },
      }
    case 'video':
      return {
        element: 'video',
        attributes: { ...size, src: `${origin}/media/short.mp4`, muted: '' },
      }
    default:
      return null
  }
}
