// Requests the same URLs again and again while something happens to the server.
import { setTimeout as sleep } from 'node:timers/promises'

/** A complete response, or a failure. */
export interface LoopResponse {
  url: string
  /** 0 if there was no response, or if it ended early. */
  status: number
  milliseconds: number
}

export interface RequestLoop {
  /** All responses since the start, in order. */
  readonly responses: readonly LoopResponse[]
  /** Resolves when every URL has been requested after this call, and has responded. */
  round(): Promise<void>
  /** Resolves with all responses, after the last one has ended. */
  end(): Promise<readonly LoopResponse[]>
}

const PAUSE_MS = 20

/** One request at a time, in the order of the URLs. */
export function startRequestLoop(urls: readonly string[]): RequestLoop {
  const responses: LoopResponse[] = []
  let waiting: (() => void)[] = []
  let isEnding = false
  const looping = (async () => {
    while (!isEnding) {
      const starting = waiting
      waiting = []
      for (const url of urls) responses.push(await request(url))
      for (const resolve of starting) resolve()
      await sleep(PAUSE_MS)
    }
    for (const resolve of waiting) resolve()
  })()
  return {
    responses,
    async round() {
      await new Promise<void>((resolve) => waiting.push(resolve))
    },
    async end() {
      isEnding = true
      await looping
      return responses
    },
  }
}

async function request(url: string): Promise<LoopResponse> {
  const startedMs = performance.now()
  const status = await statusOf(url).catch(() => 0)
  return { url, status, milliseconds: performance.now() - startedMs }
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url)
  await response.arrayBuffer()
  return response.status
}
