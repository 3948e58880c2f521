// Warms up the worker of hls.js: starting it takes longer than loading a segment, so it starts
// before a session is chosen.
import Hls, { Events } from 'hls.js/light'
import type {
  HlsConfig,
  Loader,
  LoaderCallbacks,
  LoaderConfiguration,
  LoaderContext,
} from 'hls.js/light'

/**
 * A silent frame (ISO/IEC 13818-7 6.2: ADTS, AAC-LC, mono, 44.1 kHz). Two of them are the shortest
 * segment that the worker accepts.
 */
const SILENT_FRAME = [0xff, 0xf1, 0x50, 0x40, 0x01, 0xbf, 0xfc, 0x00, 0xc8, 0x00, 0x80, 0x23, 0x80]
const PLAYLIST = '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n0.aac\n#EXT-X-ENDLIST\n'

let isWarm = false

/**
 * All instances of hls.js with this configuration share one worker, which exists as long as one of
 * them. This instance plays nothing and loads nothing from the network; it exists as long as the
 * page.
 */
export function warmWorker(config: Partial<HlsConfig>): void {
  if (isWarm || !Hls.isSupported()) return
  isWarm = true
  const hls = new Hls({ ...config, loader: CannedLoader })
  // Warming up is optional: real playback reports real errors.
  hls.on(Events.ERROR, (_event, { fatal }) => fatal && hls.destroy())
  hls.loadSource(new URL('warm.m3u8', location.href).href)
}

/** Serves every request from memory. */
class CannedLoader implements Loader<LoaderContext> {
  context: LoaderContext | null = null
  readonly stats = {
    aborted: false,
    loaded: 0,
    retry: 0,
    total: 0,
    chunkCount: 0,
    bwEstimate: 0,
    loading: { start: 0, first: 0, end: 0 },
    parsing: { start: 0, end: 0 },
    buffering: { start: 0, first: 0, end: 0 },
  }

  load(
    context: LoaderContext,
    _config: LoaderConfiguration,
    { onSuccess }: LoaderCallbacks<LoaderContext>,
  ): void {
    this.context = context
    const data =
      context.responseType === 'arraybuffer'
        ? Uint8Array.from([...SILENT_FRAME, ...SILENT_FRAME]).buffer
        : PLAYLIST
    queueMicrotask(() => onSuccess({ url: context.url, data }, this.stats, context, null))
  }

  abort(): void {
    this.stats.aborted = true
  }

  destroy(): void {
    this.abort()
  }
}
