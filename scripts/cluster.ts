// `npm run cluster`: a cluster on this machine with the demo recordings, from Debian's packages:
// PostgreSQL, an object store, two nodes, one that scans, and Varnish before them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createDemoLibrary } from '../server/demo/demo-library.ts'
import { startCluster } from '../test/support/servers/cluster.ts'
import type { StartedCluster } from '../test/support/servers/cluster.ts'

const PACKAGES =
  'postgresql ceph-mon ceph-osd radosgw varnish varnish-modules (and `apt-get update` first)'

const folder = mkdtempSync(path.join(tmpdir(), 'aftercast-cluster-'))
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
let cluster: StartedCluster | undefined
try {
  console.log('Making the demo recordings…')
  await createDemoLibrary(path.join(folder, 'recordings'), { signal: stopping.signal })
  console.log('Starting the servers…')
  cluster = await startCluster(folder)
  for (const line of describeCluster(cluster)) console.log(line)
  await aborted(stopping.signal)
} catch (error) {
  if (!stopping.signal.aborted) {
    console.error(error instanceof Error ? error.message : error)
    console.error(`A cluster needs Debian's packages ${PACKAGES}.`)
    process.exitCode = 1
  }
} finally {
  await cluster?.stop()
  rmSync(folder, { recursive: true, force: true })
}

function describeCluster({ url, nodes, postgres, store, environment }: StartedCluster): string[] {
  const file = path.join(folder, 'cluster.env')
  const lines = Object.entries(environment).map(([name, value]) => `export ${name}='${value}'\n`)
  writeFileSync(file, lines.join(''), { mode: 0o600 })
  return [
    '',
    `  Site (Varnish)  ${url}`,
    `  Node 1          ${nodes[0].url}`,
    `  Node 2          ${nodes[1].url}`,
    `  PostgreSQL      127.0.0.1:${postgres.port}`,
    `  Object store    ${store.endpoint}`,
    '',
    'To run a command in this cluster, such as hide:',
    `  (. ${file} && npm run aftercast -- hide STREAMER --data ${path.join(folder, 'commands')})`,
    '',
    'Press Ctrl+C to stop everything.',
  ]
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true })
  })
}
