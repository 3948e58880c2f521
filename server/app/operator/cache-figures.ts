// Figures of caches for the operator's page, from the metrics of all processes. Pure.
import type { CacheState } from '../../site/operator/operator-state.ts'

/** @param metrics in the text format of Prometheus */
export function readCacheFigures(metrics: string): CacheState {
  const sumOf = (name: string, label = ''): number | undefined => {
    const values = metrics.split('\n').flatMap((line) => {
      const { named, labels = '', value } = SAMPLE.exec(line)?.groups ?? {}
      return named === name && labels.includes(label) ? [Number(value)] : []
    })
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0)
  }
  return {
    segmentHits: sumOf('aftercast_segment_cache_requests_total', 'result="hit"'),
    segmentMisses: sumOf('aftercast_segment_cache_requests_total', 'result="miss"'),
    segmentBytes: sumOf('aftercast_segment_cache_bytes'),
    openRecordings: sumOf('aftercast_open_recordings'),
    artifactHits: sumOf('aftercast_artifact_reads_total', 'result="hit"'),
    artifactMisses: sumOf('aftercast_artifact_reads_total', 'result="miss"'),
    refused: sumOf('aftercast_refused_total'),
  }
}

const SAMPLE = /^(?<named>[a-z_]+)(?:\{(?<labels>.*)\})? (?<value>[\d.e+-]+)$/
