// A plain client for machines without wrk: shows that a benchmark works; what it measures is mostly
// itself.
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'

const [origin = '', list = '', seconds = '1', connections = '1', fields = '{}'] =
  process.argv.slice(2)
const headers: Record<string, string> = JSON.parse(fields)
const paths = readFileSync(list, 'utf8').split('\n')
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) })
const total = { bytes: 0, requests: 0, errors: 0 }
const begin = Date.now()
const end = begin + Number(seconds) * 1000
await Promise.all(Array.from({ length: Number(connections) }, askUntilEnd))
agent.destroy()
const { bytes, requests, errors } = total
console.log(`RESULT ${bytes} ${requests} ${(Date.now() - begin) / 1000} ${errors} 0 0`)

async function askUntilEnd(): Promise<void> {
  // At least one request, however short the time or slow the machine.
  do {
    const isGood = await ask(paths[total.requests % paths.length] ?? '/')
    total.requests += 1
    if (!isGood) total.errors += 1
  } while (Date.now() < end)
}

/** Resolves at the end of the response, with whether it was successful. */
function ask(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(origin + path, { agent, headers, timeout: 30_000 }, (response) => {
      response.on('data', (chunk: Buffer) => void (total.bytes += chunk.length))
      response.once('end', () => resolve((response.statusCode ?? 500) < 400))
      response.once('error', () => resolve(false))
    })
    request.once('error', () => resolve(false))
    request.once('timeout', () => request.destroy())
  })
}
