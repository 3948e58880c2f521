// Turns what the API answered into values the page trusts, without carrying a schema library to every visitor.
import type { SessionItem, StreamerItem } from '../../shared/contract.ts'

/** The streamers of `GET /api/streamers`. Throws a TypeError where the answer has another shape. */
export function parseStreamers(answer: unknown): StreamerItem[] {
  if (!isRecord(answer)) throw new TypeError('streamers: not an object')
  return listOf(answer['streamers']).map((item) => ({
    name: textOf(item['name']),
    recording_count: countOf(item['recording_count']),
  }))
}

/** The sessions of `GET /api/sessions/{streamer}`. Throws a TypeError where the answer has another shape. */
export function parseSessions(answer: unknown): SessionItem[] {
  return listOf(answer).map((item) => {
    const session = { date: textOf(item['date']), sessionId: textOf(item['sessionId']) }
    const duration = item['duration']
    return typeof duration === 'string' ? { ...session, duration } : session
  })
}

function listOf(value: unknown): Record<string, unknown>[] {
  if (!Array.isArray(value) || !value.every(isRecord)) throw new TypeError('not a list of objects')
  return value
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('not a text')
  return value
}

function countOf(value: unknown): number {
  if (typeof value !== 'number') throw new TypeError('not a number')
  return value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
