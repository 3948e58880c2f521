// Varnish and two nodes, with PostgreSQL and an object store: the site plays to the end although
// a node is killed, and what is hidden is gone from the cache.
import { playlistApiPath, sessionsPagePath } from '../../shared/paths.ts'
import { startCluster, type StartedCluster } from '../support/servers/cluster.ts'
import { fetchPlaylist } from '../support/servers/hls-client.ts'
import { runInNewProcess } from '../support/servers/run-program.ts'
import { createTempLibrary, type TempLibrary } from '../support/temp-library.ts'
import { expect, test } from './site.ts'
import { watchToEnd } from './watch-to-end.ts'

const day = '2026-01-31'
const session = { streamer: 'Cluster', date: day, sessionId: 'session' }

let library: TempLibrary
let cluster: StartedCluster

test.beforeAll(async () => {
  library = await createTempLibrary('cluster')
  await library.place(`Cluster/${day}/session.ts`, 'ts-h264-aac-cea608.ts')
  await library.place(`Other/${day}/session.mp4`, 'mp4-h264-aac-moov-first.mp4')
  cluster = await startCluster(library.folder)
})

test.afterAll(async () => {
  await cluster.stop()
  await library.remove()
})

test('plays to the end while a node is killed', async ({ page }) => {
  await page.goto(`${cluster.url}/p/Cluster/${day}/session`)
  const video = page.locator('video')
  const watching = watchToEnd(video)
  await expect
    .poll(async () => video.evaluate((element: HTMLVideoElement) => element.currentTime))
    .toBeGreaterThan(0)
  await cluster.nodes[0].kill()
  expect(await watching).toMatchObject({ reached: 'ended', stepsBack: [], error: '' })
  const { segments } = await fetchPlaylist(cluster.url + playlistApiPath(session))
  const requestIds = async (): Promise<string[] | undefined> =>
    (await fetch(segments[0]?.url ?? '')).headers.get('x-varnish')?.split(' ')
  // Of a request and of the earlier one that filled the cache. Purges may come at any time.
  await expect.poll(requestIds).toHaveLength(2)
})

test('hides a streamer from the cache', async () => {
  const page = cluster.url + sessionsPagePath('Other')
  expect((await fetch(page)).status).toBe(200)
  const outcome = await runInNewProcess(['hide', 'Other', '--data', `${library.folder}/commands`], {
    workingFolder: library.folder,
    environment: cluster.environment,
  })
  expect(outcome).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Other is hidden in .+\n$/),
  })
  await expect.poll(async () => (await fetch(page)).status).toBe(410)
})
