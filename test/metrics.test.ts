// Metrics for Prometheus: of all workers together, on their own listener and nowhere else.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findFreePort } from './support/servers/free-port.ts'
import { startServer } from './support/servers/start-server.ts'

/** One of each group, whichever process it comes from. */
const METRICS = [
  'open_recordings',
  'index_jobs',
  'index_oldest_job_seconds',
  'index_queue_recordings',
  'index_queue_age_seconds',
  'cold_thumbnails_jobs',
  'transcodes_total',
  'segment_cache_requests_total',
  'bytes_in_flight',
  'admitted_total',
  'refused_total',
  'waiting_for_admission',
]

it.each(['1', '2'])(
  'exports the requests of %s worker(s) on the metrics listener only',
  async (workers) => {
    const folder = await mkdtemp(join(tmpdir(), 'aftercast-metrics-'))
    await mkdir(join(folder, 'library'))
    const port = await findFreePort()
    const server = await startServer({
      args: [join(folder, 'library'), '--data', join(folder, 'data')],
      environment: { AFTERCAST_WORKERS: workers, AFTERCAST_METRICS: `127.0.0.1:${port}` },
    })
    try {
      for (let i = 0; i < 5; i += 1) await (await fetch(`${server.url}/api/streamers`)).text()
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      const labels = 'route="/api/streamers",method="GET",status="200",kind="list"'
      const count = new RegExp(`requests_total\\{${labels}\\} (?<n>\\d+)`).exec(text)
      expect(count?.groups?.n).toBe('5')
      expect(text).toContain('process_resident_memory_bytes')
      for (const name of METRICS) expect(text, name).toContain(`\n# TYPE aftercast_${name} `)
      expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
    } finally {
      await server.stop()
      await rm(folder, { recursive: true })
    }
  },
)
