// The worker of hls.js, which demuxes segments.
import 'hls.js/src/demux/transmuxer-worker.ts'
