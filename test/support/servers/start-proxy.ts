// Starts a proxy before a server of a test, with a folder for its files.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterTests } from '../after-tests.ts'
import { patienceMs } from '../patience.ts'

const POLL_MS = 50

export interface StartedProxy {
  /** Address without a slash at the end. */
  url: string
  pid: number
  /** Ends the program and removes its folder. */
  stop(this: void): Promise<void>
}

export interface ProxyOptions {
  /** Undefined if it is not installed. */
  program: string | undefined
  /** What installs it on Debian. */
  debianPackage: string
  /** Words before the command. Default none. */
  wrapper?: readonly string[]
  /** Where it will listen. */
  url: string
  /** Writes the configuration into an empty folder. Returns the arguments of the program. */
  configure: (folder: string) => Promise<string[]>
  /** Whether the server responds through the proxy. Default by `/readyz` without TLS. */
  isReady?: (url: string) => Promise<boolean>
}

/**
 * Resolves when the server responds through the proxy that it is ready. Rejects with the output of
 * the proxy if it ends before, or if the server is not ready in time; nothing is left then.
 */
export async function startProxy(options: ProxyOptions): Promise<StartedProxy> {
  const { program, debianPackage, wrapper = [], url, configure, isReady = respondsReady } = options
  if (program === undefined) throw new Error(`not installed: apt-get install ${debianPackage}`)
  const name = path.basename(program)
  const folder = await mkdtemp(path.join(tmpdir(), `aftercast-${name}-`))
  let child: ChildProcess | undefined
  const stop = async (): Promise<void> => {
    if (child) await end(child)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const [command = '', ...args] = [...wrapper, program, ...(await configure(folder))]
    child = spawn(command, args, { stdio: 'pipe', env: { ...process.env, HOME: folder } })
    await waitUntilReady(async () => isReady(url), child)
    afterTests(stop)
  } catch (error) {
    await stop()
    throw error
  }
  return { url, pid: child.pid ?? NaN, stop }
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const exited = once(child, 'exit')
  child.kill()
  await exited
}

/** Also if it could not be started. */
function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null
}

async function waitUntilReady(isReady: () => Promise<boolean>, child: ChildProcess): Promise<void> {
  let output = ''
  const note = (chunk: Buffer | Error): void => void (output += String(chunk))
  child.stdout?.on('data', note)
  child.stderr?.on('data', note)
  child.once('error', note)
  const untilMs = performance.now() + patienceMs
  while (!(await isReady())) {
    if (hasEnded(child) || performance.now() > untilMs)
      throw new Error(`${child.spawnfile} is not ready: ${output}`)
    await sleep(POLL_MS)
  }
}

async function respondsReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}
