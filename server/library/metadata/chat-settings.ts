// What operators set for chats, in `.info.json` or `streamer.json`.

export interface ChatSettings {
  /** Whether it is served; undefined if that is not set. */
  chat?: boolean
  /** How much later messages are shown. */
  chatOffsetSeconds?: number
}

export const CHAT_FIELDS = ['chat', 'chatOffsetSeconds']
const VALUES = new Map<unknown, boolean>([
  ['off', false],
  [false, false],
  ['on', true],
  [true, true],
])
const MAX_OFFSET_SECONDS = 7 * 24 * 3600

/** A value of another form is absent. */
export function parseChatSettings(fields: ReadonlyMap<string, unknown>): ChatSettings {
  const chat = VALUES.get(fields.get('chat'))
  const offset = fields.get('chatOffsetSeconds')
  const isOffset = typeof offset === 'number' && Math.abs(offset) <= MAX_OFFSET_SECONDS
  return {
    ...(chat !== undefined && { chat }),
    ...(isOffset && { chatOffsetSeconds: offset }),
  }
}
