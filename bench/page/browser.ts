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

export type Browser = Awaited<ReturnType<typeof openBrowser>>
export type Tab = Awaited<ReturnType<typeof openTab>>
type Send = (method: string, params?: object, sessionId?: string) => Promise<unknown>

const POLL_MS = 250
const FLAGS = [
  '--headless',
  '--remote-debugging-port=0',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--autoplay-policy=no-user-gesture-required',
]

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

/** @param restMs how long a new tab is left alone: its window uses a processor for a second */
export async function openBrowser(chromium: string, restMs: number) {
  const profile = await mkdtemp(path.join(tmpdir(), 'aftercast-bench-browser-'))
  const child = spawn(chromium, [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const { send, close } = await connect(await readAddress(child.stderr))
  return {
    /** Runs in a fresh tab: no cache, no open connection. */
    async inNewTab<T>(visit: (tab: Tab) => Promise<T>): Promise<T> {
      const { browserContextId } = context.parse(await send('Target.createBrowserContext'))
      try {
        const tab = await openTab(send, browserContextId)
        await sleep(restMs)
        return await visit(tab)
      } finally {
        await send('Target.disposeBrowserContext', { browserContextId })
      }
    },
    async close(): Promise<void> {
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
    if (found === undefined) continue
    output.resume()
    return found
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

async function openTab(browser: Send, browserContextId: string) {
  const place = { url: 'about:blank', browserContextId }
  const { targetId } = target.parse(await browser('Target.createTarget', place))
  const attaching = { targetId, flatten: true }
  const { sessionId } = session.parse(await browser('Target.attachToTarget', attaching))
  const send = (method: string, params?: object) => browser(method, params, sessionId)
  await send('Page.enable')
  const point = async (type: string, how: object): Promise<void> =>
    void (await send('Input.dispatchMouseEvent', { type, ...how }))
  const evaluate = async (expression: string): Promise<unknown> => {
    const how = { expression, awaitPromise: true, returnByValue: true }
    const { result, exceptionDetails } = evaluated.parse(await send('Runtime.evaluate', how))
    if (exceptionDetails) throw new Error(exceptionDetails.text)
    return result.value
  }
  return {
    /** Has every document run a function before all else. */
    async runFirst(script: () => void): Promise<void> {
      const source = `(${script.toString()})()`
      await send('Page.addScriptToEvaluateOnNewDocument', { source })
    },
    /** Makes the processor slower by a factor. */
    slowDown: async (rate: number): Promise<void> =>
      void (await send('Emulation.setCPUThrottlingRate', { rate })),
    /** Resolves when it is on its way. */
    open: async (url: string): Promise<void> => void (await send('Page.navigate', { url })),
    /** Calls a function in the page, which can use only its argument. */
    call: async <T>(script: (argument: T) => unknown, argument: T): Promise<unknown> =>
      evaluate(`(${script.toString()})(${JSON.stringify(argument)})`),
    /** The value of an expression once it is not null; polls without an end. */
    async waitFor(expression: string): Promise<unknown> {
      for (;;) {
        const value = await evaluate(`(${expression}) ?? null`)
        if (value !== null) return value
        await sleep(POLL_MS)
      }
    },
    movePointer: async (x: number, y: number): Promise<void> => point('mouseMoved', { x, y }),
    /** Presses and releases at the pointer. */
    async press(x: number, y: number): Promise<void> {
      const how = { x, y, button: 'left', clickCount: 1 }
      await point('mousePressed', how)
      await point('mouseReleased', how)
    },
  }
}
