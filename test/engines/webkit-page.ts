// WebKitGTK's MiniBrowser on a display of its own, driven by WebKitWebDriver.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { EnginePage } from './engine-page.ts'
import { patienceMs } from '../support/patience.ts'
import { startWebDriverSession } from './webdriver.ts'

/** One browser for one page: leaving a page that plays can hang this browser. */
export async function openWebKitPage(
  programs: Record<'driver' | 'browser' | 'screen', string>,
): Promise<EnginePage> {
  const screen = await startScreen(programs.screen)
  const port = await freePort()
  const driver = spawn(programs.driver, [`--port=${port}`], {
    detached: true,
    stdio: 'ignore',
    // Without the second variable WebKitGTK does not support HLS.
    env: { ...process.env, DISPLAY: screen.display, WEBKIT_GST_ENABLE_HLS_SUPPORT: '1' },
  })
  const stop = () => {
    endGroup(driver)
    endGroup(screen.process)
  }
  try {
    const base = `http://127.0.0.1:${port}`
    await waitUntilUp(`${base}/status`)
    const session = await startWebDriverSession(base, {
      timeouts: { implicit: patienceMs },
      'webkitgtk:browserOptions': { binary: programs.browser, args: ['--automation'] },
    })
    const close = async () => {
      await session.end().catch(() => undefined) // The processes are killed in any case.
      stop()
    }
    return { ...session, close }
  } catch (error) {
    stop()
    throw error
  }
}

/** Xvfb chooses a free display and writes its number to descriptor 3. */
async function startScreen(program: string) {
  const args = ['-displayfd', '3', '-screen', '0', '1280x1000x24', '-nolisten', 'tcp']
  const child = spawn(program, args, {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const written = child.stdio[3]
  if (!written) throw new Error('Xvfb has no descriptor for its display number')
  const [number] = await once(written, 'data', { signal: AbortSignal.timeout(patienceMs) })
  return { process: child, display: `:${String(number).trim()}` }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function waitUntilUp(url: string): Promise<void> {
  const limitMs = Date.now() + patienceMs
  for (;;) {
    try {
      await fetch(url, { signal: AbortSignal.timeout(1000) })
      return
    } catch (error) {
      if (Date.now() > limitMs) throw error
      await wait(50)
    }
  }
}

/** The browser's processes belong to the process group of its driver. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has already ended.
  }
}
