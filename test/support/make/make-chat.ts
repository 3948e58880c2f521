// Chat files in the formats of the tools that write them, from the same messages.

export interface MadeMessage {
  /** Position in the video. */
  seconds: number
  user: string
  text: string
  color?: string
  id?: string
}

/** When the video of all made files starts. */
export const CHAT_START = '2026-01-31T20:00:00Z'
export const CHAT_START_MS = Date.parse(CHAT_START)

const iso = (seconds: number): string => new Date(CHAT_START_MS + seconds * 1000).toISOString()

export function twitchComment({ seconds, user, text, color, id = 'c' }: MadeMessage): object {
  return {
    _id: id,
    created_at: iso(seconds),
    channel_id: '1',
    content_type: 'video',
    content_id: '2',
    content_offset_seconds: Math.floor(seconds),
    commenter: {
      display_name: user,
      _id: '3',
      name: user.toLowerCase(),
      bio: null,
      logo: 'https://x',
    },
    message: {
      body: text,
      bits_spent: 0,
      fragments: [{ text, emoticon: null }],
      user_badges: [{ _id: 'subscriber', version: '12' }],
      user_color: color ?? null,
      emoticons: [],
    },
  }
}

/** As TwitchDownloader writes it; `root` replaces or adds fields. */
export function twitchJson(messages: readonly MadeMessage[], root: object = {}): string {
  return JSON.stringify({
    FileInfo: { Version: { Major: 1, Minor: 4, Patch: 0 }, CreatedAt: iso(9000) },
    streamer: { name: 'alice', login: 'alice', id: 7 },
    video: { title: 'Stream', id: '2', created_at: CHAT_START, start: 0, end: 3600, length: 3600 },
    comments: messages.map(twitchComment),
    embeddedData: { thirdParty: [], firstParty: [{ id: '25', data: 'AAAA', name: 'Kappa' }] },
    ...root,
  })
}

/** As LiveStreamDVR writes it while it records: a comment on each line. */
export function twitchLines(messages: readonly MadeMessage[]): string {
  return messages.map((message) => `${JSON.stringify(twitchComment(message))}\n`).join('')
}

function youtubeLine(offsetMs: number, action: object): string {
  const replayChatItemAction = { actions: [action], videoOffsetTimeMsec: String(offsetMs) }
  return `${JSON.stringify({ replayChatItemAction })}\n`
}

export function youtubeItem(
  { seconds, user, text, id = 'y' }: MadeMessage,
  renderer = 'liveChatTextMessageRenderer',
  fields: object = {},
): string {
  const item = {
    id,
    timestampUsec: String((CHAT_START_MS + seconds * 1000) * 1000),
    authorName: { simpleText: user },
    authorExternalChannelId: `UC${user}`,
    authorPhoto: { thumbnails: [{ url: 'https://x' }] },
    message: { runs: [{ text }] },
    ...fields,
  }
  return youtubeLine(seconds * 1000, { addChatItemAction: { item: { [renderer]: item } } })
}

export function youtubeRemoval(seconds: number, targetItemId: string): string {
  return youtubeLine(seconds * 1000, { markChatItemAsDeletedAction: { targetItemId } })
}

export function youtubeLines(messages: readonly MadeMessage[]): string {
  return messages.map((message) => youtubeItem(message)).join('')
}

const xmlEscape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** As BililiveRecorder writes it while it records: the root is not closed. */
export function bilibiliXml(messages: readonly MadeMessage[], more = ''): string {
  const lines = messages.map(({ seconds, user, text, color = '#ffffff' }) => {
    const p = `${seconds},1,25,${Number.parseInt(color.slice(1), 16)},${CHAT_START_MS},0,99,0`
    return `<d p="${p}" user="${xmlEscape(user)}">${xmlEscape(text)}</d>\n`
  })
  return (
    '<?xml version="1.0" encoding="utf-8"?>\n<?xml-stylesheet type="text/xsl" href="#s"?>\n<i>' +
    '<chatserver>chat.bilibili.com</chatserver><BililiveRecorderRecordInfo roomid="1" ' +
    `name="alice" title="Stream" start_time="${CHAT_START}"/>` +
    '<BililiveRecorderXmlStyle><z:stylesheet version="1.0" id="s"><script>alert(1)</script>' +
    `</z:stylesheet></BililiveRecorderXmlStyle>\n${lines.join('')}${more}`
  )
}

/** As chat-downloader writes it, and Ganymede during a live stream. */
export function capturedJson(messages: readonly MadeMessage[]): string {
  return JSON.stringify(
    messages.map(({ seconds, user, text, color, id }) => ({
      message_id: id,
      message_type: 'text_message',
      timestamp: (CHAT_START_MS + seconds * 1000) * 1000,
      message: text,
      colour: color,
      author: { name: user.toLowerCase(), display_name: user, id: '3', badges: [] },
    })),
  )
}

export function jsonLine({ seconds, user, text, color }: MadeMessage, type = 'PRIVMSG'): string {
  const login = user.toLowerCase()
  const line = { t: iso(seconds), type, u: user, login, color, msg: text, badges: 'vip/1' }
  return `${JSON.stringify(line)}\n`
}

/** The lines of a `.chat.jsonl`. */
export function jsonLines(messages: readonly MadeMessage[]): string {
  return messages.map((message) => jsonLine(message)).join('')
}

export function ircLine({ seconds, user, text, color = '', id = 'i' }: MadeMessage): string {
  const login = user.toLowerCase()
  const tags =
    `badges=moderator/1;color=${color};display-name=${user};id=${id};` +
    `tmi-sent-ts=${CHAT_START_MS + seconds * 1000}`
  return `@${tags} :${login}!${login}@${login}.tmi.twitch.tv PRIVMSG #alice :${text}\r\n`
}

/** A log of justlog: raw lines of IRC. */
export function ircLines(messages: readonly MadeMessage[]): string {
  return messages.map(ircLine).join('')
}
