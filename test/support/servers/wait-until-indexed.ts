// Waits until a server has read the recordings of a streamer.
import { vi } from 'vitest'
import { sessionsApiPath } from '../../../shared/paths.ts'
import { soon } from '../patience.ts'

/** Waits until this many sessions are listed, each with a duration. */
export async function waitUntilIndexed(
  url: string,
  streamer: string,
  count: number,
): Promise<void> {
  await vi.waitUntil(async () => {
    const text = await (await fetch(url + sessionsApiPath(streamer))).text()
    return text.match(/"duration"/g)?.length === count
  }, soon)
}
