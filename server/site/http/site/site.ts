// The site as a whole, as pages, feeds and embeds name it.

export interface Site {
  name: string
  /** Path of the site on its host: '' or a path such as `/tv`. */
  basePath: string
  /** http, https or mailto. */
  contactUrl?: string | undefined
  /** Lines of ads.txt. */
  adsTxt?: readonly string[] | undefined
}

/** Of the embedded player in pixels; its video keeps its own shape. */
export const EMBED_SIZE = { width: 640, height: 360 }
