// A W3C WebDriver session over fetch: the few commands that the tests need.
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'

const commandLimitMs = 60_000
/** How long an element may refuse what is asked of it. */
const elementLimitMs = 30_000
/** The key under which WebDriver names an element (W3C WebDriver 12.1). */
const elementKey = 'element-6066-11e4-a52e-4f735466cecf'

const failure = z.object({ value: z.object({ error: z.string(), message: z.string() }) })
const sessionAnswer = z.object({ sessionId: z.string() })
const elementAnswer = z.object({ [elementKey]: z.string() })

type FoundElement = z.infer<typeof elementAnswer>

export interface WebDriverSession {
  open(url: string): Promise<void>
  evaluate(expression: string): Promise<unknown>
  click(xpath: string): Promise<void>
  type(xpath: string, text: string): Promise<void>
  end(): Promise<void>
}

/** Starts a session at the driver that listens at `base`. */
export async function startWebDriverSession(
  base: string,
  capabilities: object,
): Promise<WebDriverSession> {
  const body = { capabilities: { alwaysMatch: capabilities } }
  const { sessionId } = sessionAnswer.parse(await command(`${base}/session`, 'POST', body))
  const session = `${base}/session/${sessionId}`
  return {
    open: async (url) => void (await command(`${session}/url`, 'POST', { url })),
    evaluate: (expression) =>
      command(`${session}/execute/sync`, 'POST', { script: `return (${expression})`, args: [] }),
    click: (xpath) => click(session, xpath),
    type: (xpath, text) => type(session, xpath, text),
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
 * Does something with the element once it is there. What the page draws only near the screen is not clickable at the moment
 * it comes there, and what was found may belong to a page that is just being left: what is refused is tried again.
 */
async function withElement(
  session: string,
  xpath: string,
  work: (element: FoundElement) => Promise<void>,
): Promise<void> {
  const lastMs = Date.now() + elementLimitMs
  for (;;) {
    try {
      return await work(await find(session, xpath))
    } catch (error) {
      if (Date.now() > lastMs) throw error
      await wait(100)
    }
  }
}

async function find(session: string, xpath: string): Promise<FoundElement> {
  const query = { using: 'xpath', value: xpath }
  return elementAnswer.parse(await command(`${session}/element`, 'POST', query))
}

/** Answers the command's value; rejects with the driver's own words. */
async function command(url: string, method: 'POST' | 'DELETE', body?: object): Promise<unknown> {
  const answer = await fetch(url, {
    method,
    signal: AbortSignal.timeout(commandLimitMs),
    ...(body && { body: JSON.stringify(body) }),
  })
  const json: unknown = await answer.json()
  if (!answer.ok) {
    const { error, message } = failure.parse(json).value
    throw new Error(`${method} ${new URL(url).pathname}: ${error}: ${message}`)
  }
  return z.object({ value: z.unknown() }).parse(json).value
}
