import { expect, test } from 'vitest'
import { readCacheFigures } from './operator.ts'

const METRICS = `# HELP aftercast_encodes_jobs Jobs of video encoding, by state.
aftercast_encodes_jobs{state="running"} 2
aftercast_encodes_jobs{state="waiting"} 3
aftercast_encodes_total 40
aftercast_encode_cpu_seconds_total 61.5
aftercast_segment_cache_requests_total{result="hit"} 5
`

test('are those of encodes where heights are encoded', () => {
  expect(readCacheFigures(METRICS, { hasEncodes: true })).toMatchObject({
    segmentHits: 5,
    segmentMisses: undefined,
    encodes: { running: 2, waiting: 3, finished: 40, cpuSeconds: 61.5 },
  })
  expect(readCacheFigures(METRICS, { hasEncodes: false })).not.toHaveProperty('encodes')
})
