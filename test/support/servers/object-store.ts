// Starts an S3-compatible object store for tests: the RADOS Gateway of Ceph, with one monitor and
// one OSD in memory. See decisions/020-object-store-of-the-tests.md.
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findPrograms } from '../../../scripts/programs.mjs'
import { afterTests } from '../after-tests.ts'
import { patienceMs } from '../patience.ts'
import { createGuard } from './end-with-process.ts'
import { findFreePort } from './free-port.ts'

const POLL_MS = 20

/** Address of a store, and the keys of a user who may create buckets. */
export interface ObjectStore {
  /** Base URL of path-style requests, without a slash at the end. */
  endpoint: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

/** Variables by which the SDK of AWS finds a store. */
export function awsEnvironment(store: ObjectStore): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_S3: store.endpoint,
    AWS_REGION: store.region,
    AWS_ACCESS_KEY_ID: store.accessKeyId,
    AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
  }
}

export interface StartedObjectStore extends ObjectStore {
  /** Of the process that listens, for SIGSTOP and SIGKILL. */
  gatewayPid: number
  /** Kills the processes and removes their folder. */
  stop(): Promise<void>
}

/**
 * Listens on loopback only, and ends after the tests of the file at the latest. Deleted objects of
 * more than 4 MiB are not freed before it stops. Rejects with the output of its programs if it does
 * not start.
 */
export async function startObjectStore(): Promise<StartedObjectStore> {
  const programs = findPrograms('Ceph')
  if (programs === undefined)
    throw new Error('there is no Ceph: apt-get install ceph-mon ceph-osd radosgw')
  const folder = await mkdtemp(path.join(tmpdir(), 'aftercast-object-store-'))
  const guard = createGuard(folder)
  const [monitorPort, gatewayPort] = [await findFreePort(), await findFreePort()]
  const user = { accessKeyId: 'aftercast-tests', secretAccessKey: randomUUID() }
  const configuration = path.join(folder, 'ceph.conf')
  const osdMap = path.join(folder, 'osdmap')
  const monitor = ['-i', 'a', '--public-addr', `127.0.0.1:${monitorPort}`]
  const frontend = `beast endpoint=127.0.0.1:${gatewayPort}`
  let output = ''
  const started: ChildProcess[] = []
  const run = async (program: string, args: string[]): Promise<void> => {
    const all = ['-c', configuration, ...args]
    const running = promisify(execFile)(program, all, { timeout: patienceMs })
    guard.add(running.child)
    await running
  }
  const start = (program: string, args: string[]): ChildProcess => {
    const child = spawn(program, ['-c', configuration, '-f', ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    })
    guard.add(child)
    started.push(child)
    child.stderr.on('data', (chunk: Buffer) => void (output += chunk.toString()))
    return child
  }
  try {
    await mkdir(path.join(folder, 'osd'))
    await writeFile(configuration, formatConfiguration(folder, monitorPort))
    await run(programs.osdMapTool, ['--createsimple', '1', osdMap])
    await run(programs.monitor, [...monitor, '--mkfs', '--osdmap', osdMap])
    await waitUntilListening(monitorPort, start(programs.monitor, monitor))
    await run(programs.osd, ['-i', '0', '--mkfs'])
    start(programs.osd, ['-i', '0'])
    await run(programs.gatewayAdmin, formatUser(user))
    const gateway = start(programs.gateway, ['-n', 'client.gateway', '--rgw-frontends', frontend])
    await waitUntilListening(gatewayPort, gateway)
    afterTests(async () => guard.end())
    return {
      endpoint: `http://127.0.0.1:${gatewayPort}`,
      region: 'us-east-1',
      ...user,
      gatewayPid: gateway.pid ?? NaN,
      stop: () => guard.end(),
    }
  } catch (cause) {
    await guard.end()
    throw new Error(`the object store has not started: ${output}`, { cause })
  }
}

/** Without authentication between the daemons, and with short intervals where Ceph waits. */
function formatConfiguration(folder: string, monitorPort: number): string {
  return `[global]
fsid = ${randomUUID()}
mon host = [v2:127.0.0.1:${monitorPort}/0]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind msgr1 = false
ms mon client mode = crc
auth cluster required = none
auth service required = none
auth client required = none
run dir = ${folder}
crash dir = ${folder}/crash
admin socket =
log to file = false
mon cluster log to file = false
mon data = ${folder}/monitor
mon data avail warn = 0
mon data avail crit = 0
mon allow pool size one = true
mon client hunt interval = 0.1
paxos propose interval = 0.01
paxos min wait = 0.01
objecter tick interval = 0.1
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 16G
osd crush chooseleaf type = 0
osd crush update on start = false
osd pool default size = 1
osd pool default pg num = 1
osd pool default pg autoscale mode = off
rgw rados pool pg num min = 1
rgw thread pool size = 32
rgw enable apis = s3
rgw enable gc threads = false
rgw enable lc threads = false
rgw enable quota threads = false
rgw run sync thread = false
rgw dynamic resharding = false
`
}

/** Arguments that create it. */
function formatUser(user: { accessKeyId: string; secretAccessKey: string }): string[] {
  const keys = ['--access-key', user.accessKeyId, '--secret', user.secretAccessKey]
  return ['user', 'create', '--uid', 'tests', '--display-name', 'tests', ...keys]
}

/** Rejects if the program ends before. */
async function waitUntilListening(port: number, child: ChildProcess): Promise<void> {
  const untilMs = performance.now() + patienceMs
  while (!(await isListening(port))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('it has ended')
    if (performance.now() > untilMs) throw new Error(`nothing listens on port ${port}`)
    await sleep(POLL_MS)
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
