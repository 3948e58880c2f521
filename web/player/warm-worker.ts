// Starts the worker of hls.js before there is a segment for it, which takes longer than to load one.
import Hls, { Events } from 'hls.js/light'
import type {
  HlsConfig,
  Loader,
  LoaderCallbacks,
  LoaderConfiguration,
  LoaderContext,
} from 'hls.js/light'

/** Two frames of silence (ISO/IEC 13818-7 6.2: ADTS, AAC-LC, mono, 44.1 kHz), the least that the worker reads without complaint. */
const FRAME = [0xff, 0xf1, 0x50, 0x40, 0x01, 0xbf, 0xfc, 0x00, 0xc8, 0x00, 0x80, 0x23, 0x80]
const PLAYLIST = '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n0.aac\n#EXT-X-ENDLIST\n'

let isWarm = false

/**
 * All instances of hls.js with this configuration share one worker, which lives as long as one of them. This one plays
 * nothing and loads nothing from the network; it is there for as long as the page.
 */
export function warmWorker(config: Partial<HlsConfig>): void {
  if (isWarm || !Hls.isSupported()) return
  isWarm = true
  const hls = new Hls({ ...config, loader: CannedLoader })
  // Whatever it may not like here, playing shows.
  hls.on(Events.ERROR, (_event, { fatal }) => fatal && hls.destroy())
  hls.loadSource(new URL('warm.m3u8', location.href).href)
}

/** Answers every request by itself. */
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
        ? Uint8Array.from([...FRAME, ...FRAME]).buffer
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
