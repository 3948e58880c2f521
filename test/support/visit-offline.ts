// Serves a library in a network namespace of its own, whose only interface leads to itself, visits
// it, and prints how many requests the visit made, and how many connections and datagrams both
// together: `visit-offline.ts PROGRAM RECORDINGS DATA`, by test/package.test.ts.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { findProgram } from '../../scripts/programs.mjs'
import { startServer } from './servers/start-server.ts'

const [program = '', recordings = '', data = ''] = process.argv.slice(2)

/** A counter of the kernel for this namespace (RFC 1213, RFC 4113). */
function count(protocol: 'Tcp' | 'Udp', name: string): number {
  const [names = '', values = ''] = readFileSync('/proc/self/net/snmp', 'latin1')
    .split('\n')
    .filter((line) => line.startsWith(`${protocol}: `))
  return Number(values.split(' ')[names.split(' ').indexOf(name)])
}

// Every address is this machine: what is sent anywhere is counted, and nothing waits for an answer.
const ip = findProgram('ip') ?? 'ip'
execFileSync(ip, ['link', 'set', 'lo', 'up'])
execFileSync(ip, ['route', 'add', 'local', 'default', 'dev', 'lo'])

let requests = 0

/** One connection each. */
function request(url: string): Promise<string> {
  requests += 1
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      let text = ''
      response.setEncoding('latin1')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve(text))
    }).on('error', reject)
  })
}

const before = { connections: count('Tcp', 'ActiveOpens'), datagrams: count('Udp', 'OutDatagrams') }
const environment = { AFTERCAST_WORKERS: '2' }
const server = await startServer({ program, args: [recordings, '--data', data], environment })
const session = 'alice/2026-01-31/1001'
for (const path of ['', 'api/streamers', 's/alice', `p/${session}`, `api/session/${session}`]) {
  await request(`${server.url}/${path}`)
}
await request(`${server.url}/api/thumbnail/${session}`)
const playlist = new URL(`/api/video/${session}/playlist.m3u8`, server.url).href
for (const line of (await request(playlist)).split('\n')) {
  if (line !== '' && !line.startsWith('#')) await request(new URL(line, playlist).href)
}
await server.stop()
const connections = count('Tcp', 'ActiveOpens') - before.connections
const datagrams = count('Udp', 'OutDatagrams') - before.datagrams
console.log(JSON.stringify({ requests, connections, datagrams }))
