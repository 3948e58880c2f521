// Starts the worker of hls.js before a session is chosen: starting it takes longer than loading a
// segment. Without this, the first frame after a click came in 365 ms instead of 317
// (docs/performance.md).
//
// hls.js has no call for that. It starts its worker with the first segment of an instance, shares
// it between all instances, and ends it with the last of them. So one instance loads a segment of
// silence, from memory and without a video element, and is never destroyed.
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

/** Does so once per page. `config` is that of the sessions: the worker is shared by its path. */
export function warmWorker(config: Partial<HlsConfig>): void {
  if (isWarm || !Hls.isSupported()) return
  isWarm = true
  const hls = new Hls({ ...config, loader: MemoryLoader })
  // Warming up is optional: real playback reports real errors.
  hls.on(Events.ERROR, (_event, { fatal }) => fatal && hls.destroy())
  hls.loadSource(new URL('warm.m3u8', location.href).href)
}

/** Responds to each request of hls.js at once: with the playlist, or with the segment. */
class MemoryLoader implements Loader<LoaderContext> {
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
