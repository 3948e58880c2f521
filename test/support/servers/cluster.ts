// Starts a whole cluster: PostgreSQL, an object store with the recordings, two nodes that serve,
// one that scans, and Varnish before them.
import path from 'node:path'
import { createBucket } from './bucket.ts'
import type { TestBucket } from './bucket.ts'
import { findFreePort } from './free-port.ts'
import { awsEnvironment, startObjectStore } from './object-store.ts'
import type { StartedObjectStore } from './object-store.ts'
import { startPostgres } from './postgres.ts'
import type { StartedPostgres } from './postgres.ts'
import { startServer } from './start-server.ts'
import type { StartedServer } from './start-server.ts'
import { startVarnish } from './varnish.ts'

/** Prefix of the recordings in the bucket. */
const RECORDINGS = 'recordings/'
const ARTIFACTS = 'artifacts/'

export interface StartedCluster {
  /** Address of Varnish without a slash at the end. */
  url: string
  nodes: [StartedServer, StartedServer]
  worker: StartedServer
  postgres: StartedPostgres
  store: StartedObjectStore
  bucket: TestBucket
  /** Environment of a command for this cluster. */
  environment: Record<string, string>
  stop(): Promise<void>
}

/** @param folder with `recordings`; the data folders of the nodes are created in it */
export async function startCluster(folder: string): Promise<StartedCluster> {
  const stops: (() => Promise<unknown>)[] = []
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).toReversed()) await each()
  }
  try {
    const [postgres, store] = await Promise.all([startPostgres(), startObjectStore()])
    stops.push(
      () => postgres.remove(),
      () => store.stop(),
    )
    const bucket = await createBucket(store)
    await bucket.putTree(path.join(folder, 'recordings'), RECORDINGS)
    const port = await findFreePort()
    const environment = {
      ...awsEnvironment(store),
      AFTERCAST_S3_PATH_STYLE: 'true',
      AFTERCAST_RECORDINGS: `s3://${bucket.name}/${RECORDINGS}`,
      AFTERCAST_ARTIFACTS: `s3://${bucket.name}/${ARTIFACTS}`,
      AFTERCAST_DATABASE_URL: await postgres.createDatabase(),
      AFTERCAST_PURGE_URLS: `http://127.0.0.1:${port}/`,
      AFTERCAST_TRUST_PROXY: '1',
    }
    const start = async (name: string, command: 'serve' | 'work'): Promise<StartedServer> => {
      const jobs = { AFTERCAST_CLUSTER_JOBS: String(command === 'work') }
      const args = ['--data', path.join(folder, name)]
      const server = await startServer({ command, args, environment: { ...environment, ...jobs } })
      stops.push(() => server.stop())
      return server
    }
    const [worker, ...nodes] = await Promise.all([
      start('worker', 'work'),
      start('node-1', 'serve'),
      start('node-2', 'serve'),
    ])
    const varnish = await startVarnish(port, [nodes[0].url, nodes[1].url])
    stops.push(() => varnish.stop())
    return { url: varnish.url, nodes, worker, postgres, store, bucket, environment, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
