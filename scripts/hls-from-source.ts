// Build step of the page: builds hls.js from the source in its package, for the browsers of this
// build and without what the page does not use. The library's own bundles contain the demuxers
// twice: for the worker, and for pages without one.
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Plugin } from 'vite'

const manifest = createRequire(import.meta.url).resolve('hls.js/package.json')
const SOURCE = path.join(path.dirname(manifest), 'src')
const EMPTY = path.join(SOURCE, 'empty-es.js')
const LATE_TRANSMUXER = path.join(import.meta.dirname, '../web/player/engine/late-transmuxer.ts')

/** What the library's own build defines (its `build-config.js`): here the parts of `light`. */
const define = {
  __USE_ALT_AUDIO__: false,
  __USE_CMCD__: false,
  __USE_CONTENT_STEERING__: false,
  __USE_EME_DRM__: false,
  __USE_IFRAMES__: false,
  __USE_INTERSTITIALS__: false,
  // The worker's own bundle has them, too: HEVC in MPEG-TS.
  __USE_M2TS_ADVANCED_CODECS__: true,
  __USE_MEDIA_CAPABILITIES__: false,
  __USE_SUBTITLES__: false,
  __USE_VARIABLE_SUBSTITUTION__: false,
  __HLS_WORKER_BUNDLE__: 'undefined',
  // The page imports nothing that reads it.
  __IN_WORKER__: true,
  __VERSION__: '""',
}

/** Modules that the page gets instead; the worker imports none of them but its transmuxer. */
const REPLACED = new Map([
  ['controller/cmcd-controller', EMPTY],
  ['demux/transmuxer', LATE_TRANSMUXER],
  ['demux/transmuxer-worker', EMPTY],
])

/** Marks a copy of a module: without it, what a late chunk shares with the page comes early. */
const COPY = '?copy'

/** Resolves `hls.js/light` and `hls.js/src/…` to the source. */
export function hlsFromSource(): Plugin {
  return {
    name: 'hls-from-source',
    enforce: 'pre',
    config: () => ({ define }),
    async resolveId(id, importer = '') {
      if (id === 'hls.js/light') return path.join(SOURCE, 'exports-named.ts')
      if (id.startsWith('hls.js/src/')) return path.join(SOURCE, id.slice('hls.js/src/'.length))
      if (!importer.startsWith(SOURCE)) return undefined
      if (importer.endsWith(COPY)) {
        const found = await this.resolve(id, importer.slice(0, -COPY.length))
        return found && `${found.id}${COPY}`
      }
      if (importer.endsWith('/transmuxer-worker.ts')) return undefined
      return REPLACED.get(path.relative(SOURCE, path.resolve(path.dirname(importer), id)))
    },
  }
}
