// `npm run bench -- renditions`: video that is encoded on demand, by one process and its encoder on
// one processor: until the first segment is there, and how fast a session is encoded.
import { playlistApiPath } from '../shared/paths.ts'
import { fetchPlaylist, fetchSegment } from '../test/support/servers/hls-client.ts'
import { waitUntilListed } from './endurance/listing.ts'
import type { Bench } from './harness.ts'
import { ensureMedia, sessionOf } from './media.ts'
import { formatTable, median } from './table.ts'

/** Heights below that of the recording. */
const HEIGHTS = { 1080: ['720p', '480p', '360p'], 360: ['360p'] } as const
/** Segments whose encoding is measured: a minute and a half. */
const MAX_SEGMENTS = 15

export async function benchRenditions(bench: Bench): Promise<string[]> {
  const { rounds, pictureHeight } = bench.options
  const { folder } = ensureMedia(bench.options, ['mp4'])
  const rows: string[][] = []
  for (const height of HEIGHTS[pictureHeight]) {
    const firsts: number[] = []
    const speeds: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const { firstMs, speed } = await encodeSession(bench, folder, height)
      firsts.push(firstMs)
      speeds.push(speed)
    }
    rows.push([height, median(firsts).toFixed(0), median(speeds).toFixed(2)])
  }
  const head = ['quality', 'first segment, ms', 'seconds encoded per second']
  return formatTable(head, ...rows)
}

/** With an empty cache, and without an encoder process that waits. */
async function encodeSession(bench: Bench, recordings: string, height: string) {
  const environment = {
    AFTERCAST_RENDITIONS_VIDEO: height,
    // Its limits of processor time are not what is measured.
    AFTERCAST_RENDITIONS_CONCURRENCY: '8',
  }
  const server = await bench.startNode({ recordings, environment })
  await waitUntilListed(server.url, 1)
  const url = `${server.url}${playlistApiPath(sessionOf('mp4'))}?quality=${height}`
  const startMs = performance.now()
  const { segments } = await fetchPlaylist(url)
  const [first, ...rest] = segments.slice(0, MAX_SEGMENTS)
  if (first === undefined) throw new Error('the rendition has no segments')
  await fetchSegment(first)
  const firstMs = performance.now() - startMs
  for (const segment of rest) await fetchSegment(segment)
  const seconds = [first, ...rest].reduce((sum, each) => sum + each.durationSeconds, 0)
  const speed = (seconds * 1000) / (performance.now() - startMs)
  await server.stop()
  return { firstMs, speed }
}
