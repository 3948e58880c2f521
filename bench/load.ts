// Requests a list of paths from a server in a loop, by wrk, or by a slower client of our own where
// there is no wrk, and in smoke runs: wrk ends without a response if the machine is slow.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { hasProgram } from './machine.ts'

const CONNECTIONS = 8

/** Totals of a load. */
export interface LoadResult {
  bytes: number
  requests: number
  seconds: number
  /** Answers above 399, and connections that failed. */
  errors: number
  /** Latency in milliseconds. Zero where the client does not measure it. */
  p50: number
  p99: number
}

export interface LoadPlan {
  /** Without a slash at the end. */
  origin: string
  paths: string[]
  /** Of each request. Default none. */
  headers?: Readonly<Record<string, string>> | undefined
  seconds: number
  /** Words before the command. */
  wrapper: string[]
  /** Folder for the client's input. */
  scratch: string
  isSmoke: boolean
}

/** @throws Error if a response was an error: then there is nothing to compare */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const hasWrk = hasProgram('wrk')
  if (!hasWrk && !plan.isSmoke) console.error('wrk is missing: figures are of a slow client.')
  const result = hasWrk && !plan.isSmoke ? await runWrk(plan) : await runOwnClient(plan)
  const { requests, errors } = result
  if (errors > 0 || requests === 0) throw new Error(`${errors} of ${requests} answers were wrong`)
  return result
}

/** What it measures is mostly itself. At least one request, however slow the machine is. */
async function runOwnClient({ origin, paths, headers = {}, seconds }: LoadPlan) {
  const total = { bytes: 0, requests: 0, errors: 0, p50: 0, p99: 0 }
  const startedMs = performance.now()
  const endMs = startedMs + seconds * 1000
  const request = async (): Promise<void> => {
    do {
      const response = await fetch(origin + (paths[total.requests % paths.length] ?? '/'), {
        headers,
      })
      total.bytes += (await response.arrayBuffer()).byteLength
      // A busy machine.
      if (response.status === 503) continue
      total.requests += 1
      if (response.status >= 400) total.errors += 1
    } while (performance.now() < endMs || total.requests === 0)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, request))
  return { ...total, seconds: (performance.now() - startedMs) / 1000 }
}

async function runWrk({ origin, paths, headers = {}, seconds, scratch, wrapper }: LoadPlan) {
  const list = path.join(scratch, 'paths.txt')
  const script = path.join(scratch, 'paths.lua')
  writeFileSync(list, paths.join('\n'))
  writeFileSync(script, wrkScript(list))
  const flags = ['-t1', `-c${CONNECTIONS}`, `-d${Math.ceil(seconds)}s`, '--timeout', '30s']
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const [command, ...args] = [...wrapper, 'wrk', ...flags, ...fields, '-s', script, origin]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const numbers = /^RESULT (?<numbers>.*)$/m.exec(output)?.groups?.numbers?.split(' ').map(Number)
  if (numbers === undefined) throw new Error(`the load did not run: ${output}`)
  const [bytes = 0, requests = 0, wall = 0, errors = 0, p50 = 0, p99 = 0] = numbers
  return { bytes, requests, seconds: wall, errors, p50, p99 }
}

function wrkScript(list: string): string {
  return `
local requests, at = {}, 0
function init()
  for line in io.lines(${JSON.stringify(list)}) do
    requests[#requests + 1] = wrk.format("GET", line)
  end
end
function request()
  at = at % #requests + 1
  return requests[at]
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %f %d %f %f\\n", summary.bytes, summary.requests,
    summary.duration / 1e6, e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
`
}
