// A W3C WebDriver session over fetch, with the few commands that the tests need.
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { patienceMs } from '../support/patience.ts'
import type { EnginePage } from './engine-page.ts'

/** The key of an element reference (W3C WebDriver 12.1). */
const elementKey = 'element-6066-11e4-a52e-4f735466cecf'

const failure = z.object({ value: z.object({ error: z.string(), message: z.string() }) })
const sessionResponse = z.object({ sessionId: z.string() })
const elementResponse = z.object({ [elementKey]: z.string() })

type FoundElement = z.infer<typeof elementResponse>

export interface WebDriverSession extends Omit<EnginePage, 'close'> {
  end(): Promise<void>
}

/** Starts a session of the driver that listens at `base`. */
export async function startWebDriverSession(
  base: string,
  capabilities: object,
): Promise<WebDriverSession> {
  const body = { capabilities: { alwaysMatch: capabilities } }
  const { sessionId } = sessionResponse.parse(await command(`${base}/session`, 'POST', body))
  const session = `${base}/session/${sessionId}`
  return {
    open: async (url) => void (await command(`${session}/url`, 'POST', { url })),
    evaluate: (expression) =>
      command(`${session}/execute/sync`, 'POST', { script: `return (${expression})`, args: [] }),
    click: (xpath) => click(session, xpath),
    type: (xpath, text) => type(session, xpath, text),
    async hideWhile(work) {
      await command(`${session}/window/minimize`, 'POST', {})
      await work()
      await command(`${session}/window/rect`, 'POST', { width: 1024, height: 768 })
    },
    end: async () => void (await command(session, 'DELETE')),
  }
}

/** Clicks where the element is once it is in view. */
async function click(session: string, xpath: string): Promise<void> {
  await withElement(session, xpath, async (element) => {
    const script = `arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })`
    await command(`${session}/execute/sync`, 'POST', { script, args: [element] })
    await command(`${session}/element/${element[elementKey]}/click`, 'POST', {})
  })
}

async function type(session: string, xpath: string, text: string): Promise<void> {
  await withElement(session, xpath, async (element) => {
    await command(`${session}/element/${element[elementKey]}/value`, 'POST', { text })
  })
}

/**
 * Runs `work` on the element once it exists, and again while it fails: an element that comes into
 * view may not be clickable yet, and the one found may belong to the page before.
 */
async function withElement(
  session: string,
  xpath: string,
  work: (element: FoundElement) => Promise<void>,
): Promise<void> {
  const limitMs = Date.now() + patienceMs
  for (;;) {
    try {
      return await work(await find(session, xpath))
    } catch (error) {
      if (Date.now() > limitMs) throw error
      await wait(100)
    }
  }
}

async function find(session: string, xpath: string): Promise<FoundElement> {
  const query = { using: 'xpath', value: xpath }
  return elementResponse.parse(await command(`${session}/element`, 'POST', query))
}

/** Resolves with the command's value; rejects with the driver's message. */
async function command(url: string, method: 'POST' | 'DELETE', body?: object): Promise<unknown> {
  const response = await fetch(url, {
    method,
    // Longer than the driver waits for an element.
    signal: AbortSignal.timeout(2 * patienceMs),
    ...(body && { body: JSON.stringify(body) }),
  })
  const json: unknown = await response.json()
  if (!response.ok) {
    const { error, message } = failure.parse(json).value
    throw new Error(`${method} ${new URL(url).pathname}: ${error}: ${message}`)
  }
  return z.object({ value: z.unknown() }).parse(json).value
}
