// Tabs without instrumentation. A test driver compiles its scripts in the page and records the
// stack of every request, which takes a third of the time of a visit. A minimal client of the
// Chrome DevTools Protocol.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { BenchOptions } from '../options.ts'
import { chromiumArguments, chromiumPath } from './site.ts'

export interface BareBrowser {
  /** Runs in a fresh tab: no cache, no open connection. */
  inNewTab<T>(visit: (tab: BareTab) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface BareTab {
  /** Has every document run a function before all else. */
  runFirst(script: () => void): Promise<void>
  /** Resolves when it is on its way. */
  open(url: string): Promise<void>
  /**
   * Calls a function in the page and returns what it resolves to. It can use only its argument.
   */
  call<T>(script: (argument: T) => unknown, argument: T): Promise<unknown>
  /** The value of an expression once it is not null; polls. */
  waitFor(expression: string): Promise<unknown>
  movePointer(x: number, y: number): Promise<void>
  /** Presses and releases at the pointer. */
  press(x: number, y: number): Promise<void>
  type(key: string): Promise<void>
}

type Send = (method: string, params?: object, sessionId?: string) => Promise<unknown>

const LOOK_EVERY_MS = 250
const LIMIT_MS = 30_000
/**
 * A new tab opens a window, whose browser pages use a processor for a second; visitors have theirs
 * already.
 */
const REST_MS = 2500

const message = z.object({
  id: z.number().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
})
const context = z.object({ browserContextId: z.string() })
const target = z.object({ targetId: z.string() })
const session = z.object({ sessionId: z.string() })
const evaluated = z.object({
  result: z.object({ value: z.unknown().optional() }),
  exceptionDetails: z.object({ text: z.string() }).optional(),
})

/** @throws Error where there is no Chromium */
export async function openBareBrowser({ isSmoke }: BenchOptions): Promise<BareBrowser> {
  const profile = await mkdtemp(path.join(tmpdir(), 'aftercast-bench-browser-'))
  const ownArguments = ['--headless', '--remote-debugging-port=0', `--user-data-dir=${profile}`]
  const child = spawn(chromiumPath(), [...chromiumArguments, ...ownArguments, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const { send, close } = await connect(await readAddress(child.stderr))
  return {
    async inNewTab(visit) {
      const { browserContextId } = context.parse(await send('Target.createBrowserContext'))
      try {
        const tab = await openTab(send, browserContextId)
        if (!isSmoke) await sleep(REST_MS)
        return await visit(tab)
      } finally {
        await send('Target.disposeBrowserContext', { browserContextId })
      }
    },
    async close() {
      close()
      const ended = once(child, 'exit')
      child.kill()
      await ended
      await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

async function readAddress(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) {
    const found = /^DevTools listening on (?<url>ws:\S+)/.exec(line)?.groups?.url
    if (found !== undefined) {
      output.resume()
      return found
    }
  }
  throw new Error('Chromium did not report its address')
}

async function connect(url: string): Promise<{ send: Send; close: () => void }> {
  const socket = new WebSocket(url)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  socket.addEventListener('message', ({ data }) => {
    const { id = 0, result, error } = message.parse(JSON.parse(String(data)))
    if (error) waiting.get(id)?.reject(new Error(error.message))
    else waiting.get(id)?.resolve(result)
    waiting.delete(id)
  })
  await once(socket, 'open')
  return {
    send(method, params = {}, sessionId) {
      const id = (lastId += 1)
      const answer = Promise.withResolvers<unknown>()
      waiting.set(id, answer)
      socket.send(JSON.stringify({ id, method, params, sessionId }))
      return answer.promise
    },
    close: () => socket.close(),
  }
}

async function openTab(browser: Send, browserContextId: string): Promise<BareTab> {
  const place = { url: 'about:blank', browserContextId }
  const { targetId } = target.parse(await browser('Target.createTarget', place))
  const attaching = { targetId, flatten: true }
  const { sessionId } = session.parse(await browser('Target.attachToTarget', attaching))
  const send = (method: string, params?: object) => browser(method, params, sessionId)
  await send('Page.enable')
  const point = (type: string, how: object) => send('Input.dispatchMouseEvent', { type, ...how })
  const evaluate = async (expression: string): Promise<unknown> => {
    const how = { expression, awaitPromise: true, returnByValue: true }
    const { result, exceptionDetails } = evaluated.parse(await send('Runtime.evaluate', how))
    if (exceptionDetails) throw new Error(exceptionDetails.text)
    return result.value
  }
  return {
    runFirst: async (script) =>
      void (await send('Page.addScriptToEvaluateOnNewDocument', {
        source: `(${script.toString()})()`,
      })),
    open: async (url) => void (await send('Page.navigate', { url })),
    call: (script, argument) => evaluate(`(${script.toString()})(${JSON.stringify(argument)})`),
    async waitFor(expression) {
      const lastMs = performance.now() + LIMIT_MS
      for (;;) {
        const value = await evaluate(`(${expression}) ?? null`)
        if (value !== null) return value
        if (performance.now() > lastMs) throw new Error(`waited in vain for ${expression}`)
        await sleep(LOOK_EVERY_MS)
      }
    },
    movePointer: async (x, y) => void (await point('mouseMoved', { x, y })),
    async press(x, y) {
      const how = { x, y, button: 'left', clickCount: 1 }
      await point('mousePressed', how)
      await point('mouseReleased', how)
    },
    async type(key) {
      const text = key.length === 1 ? { text: key } : { windowsVirtualKeyCode: 8 }
      await send('Input.dispatchKeyEvent', { type: 'keyDown', key, code: key, ...text })
      await send('Input.dispatchKeyEvent', { type: 'keyUp', key, code: key })
    },
  }
}
