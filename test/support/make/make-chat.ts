// Chat files in the formats of the tools that write them, from the same messages.

export interface MadeMessage {
  /** Position in the video. */
  seconds: number
  user: string
  text: string
  color?: string
  id?: string
  /** Ids of the words that are emotes. */
  emotes?: Record<string, string>
}

/** When the video of all made files starts. */
export const CHAT_START = '2026-01-31T20:00:00Z'
export const CHAT_START_MS = Date.parse(CHAT_START)

const iso = (seconds: number): string => new Date(CHAT_START_MS + seconds * 1000).toISOString()

export function twitchComment(message: MadeMessage): object {
  const { seconds, user, text, color, id = 'c', emotes = {} } = message
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
      fragments: fragmentsOf(text, emotes),
      user_badges: [{ _id: 'subscriber', version: '12' }],
      user_color: color ?? null,
      emoticons: [],
    },
  }
}

/** The emotes, and the texts between them. */
function fragmentsOf(text: string, emotes: Record<string, string>): object[] {
  const fragments: { text: string; emoticon: object | null }[] = []
  for (const word of text.split(/(?<= )|(?= )/)) {
    const id = Object.hasOwn(emotes, word) ? emotes[word] : undefined
    const last = fragments.at(-1)
    if (id === undefined && last?.emoticon === null) last.text += word
    else fragments.push({ text: word, emoticon: id === undefined ? null : { emoticon_id: id } })
  }
  return fragments
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

/** What TwitchDownloader embeds: images by the names or ids of emotes. */
export function embeddedData(
  thirdParty: Record<string, Buffer>,
  firstParty: Record<string, Buffer> = {},
): object {
  const scale = { imageScale: 2, width: 28, height: 28 }
  return {
    thirdParty: Object.entries(thirdParty).map(([name, data], nth) => ({
      id: `t${nth}`,
      ...scale,
      data: data.toString('base64'),
      name,
      isZeroWidth: false,
    })),
    firstParty: Object.entries(firstParty).map(([id, data]) => ({
      id,
      ...scale,
      data: data.toString('base64'),
      name: null,
    })),
    twitchBadges: [{ name: 'subscriber', versions: { 12: { title: 'S', bytes: 'AAAA' } } }],
    twitchBits: [{ prefix: 'Cheer', tierList: { 1: { id: '1', data: 'AAAA', name: 'Cheer1' } } }],
  }
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

/** A made file, how many records of messages it has, and what is shown of it. */
export interface MadeChat {
  content: string
  messages: number
  /** Time, user, text and kind. */
  shown: [number, string, string, string?][]
}

const start = (seconds: number): number => (CHAT_START_MS + seconds * 1000) * 1000
const lines = (...records: object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

function noticed(seconds: number, text: string, message: object): object {
  const comment = {
    ...twitchComment({ seconds, user: 'Bob', text }),
    content_offset_seconds: seconds,
  }
  return { ...comment, message: { body: text, ...message } }
}

/** An entry of chat-downloader; keys are sorted, as it writes them. */
function captured(seconds: number, message: string | null, fields: object = {}): object {
  return {
    action_type: 'text_message',
    author: { badges: [], display_name: 'Bob', id: '3', name: 'bob' },
    message,
    message_id: `m${seconds}`,
    message_type: 'text_message',
    timestamp: start(seconds),
    ...fields,
  }
}

const bob = { user: 'Bob', text: 'hi' }
const liveAction = (action: object, offset = '2000'): string =>
  lines({ replayChatItemAction: { actions: [action] }, videoOffsetTimeMsec: offset, isLive: true })
const gifts = {
  liveChatSponsorshipsGiftPurchaseAnnouncementRenderer: {
    id: 'gift',
    timestampUsec: String(start(3)),
    authorExternalChannelId: 'UCEve',
    header: {
      liveChatSponsorshipsHeaderRenderer: {
        authorName: { simpleText: 'Eve' },
        primaryText: { runs: [{ text: 'Sent ' }, { text: '5' }, { text: ' gifts' }] },
        authorBadges: [{ liveChatAuthorBadgeRenderer: { tooltip: 'Member' } }],
      },
    },
  },
}

/** Files with the structures that the tools write, by tool. */
export const madeChats: Readonly<Record<string, MadeChat>> = {
  'TwitchDownloader 1.4 with notices': {
    content: twitchJson([], {
      comments: [
        noticed(1, 'Cheer100 hi', { bits_spent: 100 }),
        noticed(2, 'thanks', { user_notice_params: { msg_id: 'resub' } }),
        noticed(3, 'forward', { user_notice_params: { msg_id: 'communitypayforward' } }),
      ],
    }),
    messages: 3,
    shown: [
      [1, 'Bob', 'Cheer100 hi', 'paid'],
      [2, 'Bob', 'thanks', 'member'],
      [3, 'Bob', 'forward', 'member'],
    ],
  },
  'TwitchDownloader of a clip': {
    // Offsets are those of the video, the length and the time those of the clip.
    content: twitchJson([{ ...bob, seconds: 5010.5 }], {
      clipper: { name: 'Eve', login: 'eve', id: 8 },
      video: { created_at: iso(86_400), start: 5000, end: 5060, length: 60 },
    }),
    messages: 1,
    shown: [[10, 'Bob', 'hi']],
  },
  'TwitchDownloader 1.0': {
    content: JSON.stringify({
      streamer: { name: 'alice', id: '7' },
      comments: [
        { ...noticed(4, 'old', {}), content_offset_seconds: '4.5', created_at: undefined },
      ],
      video: { created_at: '0001-01-01T00:00:00', start: 0, end: 0, length: -1 },
      emotes: { thirdParty: [], firstParty: [] },
    }),
    messages: 1,
    shown: [[4.5, 'Bob', 'old']],
  },
  'Ganymede, converted': {
    content: JSON.stringify({
      streamer: { name: 'alice', id: 7 },
      video: { id: '', start: 0, end: 9 },
      comments: [
        { _id: '546a5e6e-c820-4ad2-9421-9ba5b5bf37ea', at: 0, text: 'made by the tool' },
        { _id: 'a', at: 1.5, text: 'hi' },
      ].map(({ _id, at, text }) => ({
        _id,
        source: 'chat',
        content_offset_seconds: at,
        commenter: { display_name: 'Bob', _id: '3', is_moderator: false, name: 'bob' },
        message: {
          body: text,
          bits_spent: 0,
          fragments: [{ text, emoticon: null, pos1: 0, pos2: 0 }],
          is_action: false,
          user_badges: [],
          user_color: '#a65ee8',
          user_notice_params: {},
        },
      })),
    }),
    messages: 2,
    shown: [[1.5, 'Bob', 'hi']],
  },
  'Ganymede, live': {
    content: JSON.stringify([
      captured(1, 'hi', { action_type: 'add_chat_message', message_type: 'text', bits_spent: 50 }),
      captured(2, 'Bob joined. Great', {
        message_type: 'user_notice',
        user_notice_params: { 'msg-id': 'sub', 'system-msg': 'Bob joined.' },
      }),
    ]),
    messages: 2,
    shown: [
      [1, 'Bob', 'hi', 'paid'],
      [2, 'Bob', 'Bob joined. Great', 'member'],
    ],
  },
  'chat-downloader, Twitch': {
    content: JSON.stringify([
      captured(1, 'banned', { author: { display_name: 'Eve', id: '9', name: 'eve' } }),
      captured(2, 'deleted'),
      captured(3, 'hi', { bits: 100 }),
      captured(4, null, { message_type: 'prime_paid_upgrade', system_message: 'Bob upgraded' }),
      captured(5, 'deleted', { message_type: 'delete_message', target_message_id: 'm2' }),
      captured(6, null, {
        author: { target_id: '9' },
        banned_user: 'eve',
        message_type: 'ban_user',
      }),
    ]),
    messages: 4,
    shown: [
      [3, 'Bob', 'hi', 'paid'],
      [4, 'Bob', 'Bob upgraded', 'member'],
    ],
  },
  'chat-downloader, YouTube as lines': {
    content: lines(
      captured(1, 'deleted'),
      captured(2, null, {
        header_primary_text: 'Member for 2 months',
        message_type: 'membership_item',
        time_in_seconds: 2,
      }),
      captured(3, 'hi', { message_type: 'paid_message', money: { amount: 5, text: '€5.00' } }),
      captured(3, 'hi', {
        action_type: 'add_live_chat_ticker_item',
        message_type: 'ticker_paid_message_item',
        money: { text: '€5.00' },
      }),
      captured(4, '[gone]', {
        author: {},
        message_type: 'deleted_message',
        target_message_id: 'm1',
      }),
    ),
    messages: 3,
    shown: [
      [2, 'Bob', 'Member for 2 months', 'member'],
      [3, 'Bob', '€5.00 hi', 'paid'],
    ],
  },
  'yt-dlp, live_chat.json': {
    content:
      youtubeItem({ ...bob, text: 'early', seconds: 0 }, undefined, {
        timestampText: { simpleText: '-1:05' },
      }) +
      youtubeItem({ ...bob, seconds: 1 }) +
      liveAction({
        addChatItemAction: { item: { liveChatPlaceholderItemRenderer: { id: 'p' } } },
      }) +
      liveAction({
        replaceChatItemAction: {
          targetItemId: 'p',
          replacementItem: {
            liveChatTextMessageRenderer: {
              id: 'p',
              authorName: { simpleText: 'Bob' },
              message: { runs: [{ text: 'checked' }] },
            },
          },
        },
      }) +
      liveAction({ addChatItemAction: { item: gifts } }, '3000') +
      youtubeItem({ ...bob, seconds: 4 }, 'liveChatPaidStickerRenderer', {
        message: undefined,
        purchaseAmountText: { simpleText: '€2.00' },
        sticker: { accessibility: { accessibilityData: { label: 'A waving hand' } } },
      }) +
      youtubeItem({ ...bob, seconds: 5 }, 'liveChatLegacyPaidMessageRenderer', {
        message: undefined,
        eventText: { runs: [{ text: 'New member' }] },
        detailText: { simpleText: 'Welcome, Bob!' },
      }),
    messages: 6,
    shown: [
      [0, 'Bob', 'early'],
      [1, 'Bob', 'hi'],
      [2, 'Bob', 'checked'],
      [3, 'Eve', 'Sent 5 gifts', 'member'],
      [4, 'Bob', '€2.00 A waving hand', 'paid'],
      [5, 'Bob', 'New member Welcome, Bob!', 'member'],
    ],
  },
  'Twitch-VOD-Manager': {
    content: lines({ type: 'header', channel: 'alice' }) + jsonLine({ ...bob, seconds: 1 }, 'msg'),
    messages: 1,
    shown: [[1, 'Bob', 'hi']],
  },
  'LiveStreamDVR while it records': {
    content: twitchLines([{ ...bob, seconds: 1.25 }]),
    messages: 1,
    shown: [[1.25, 'Bob', 'hi']],
  },
  BililiveRecorder: {
    content: bilibiliXml(
      [{ ...bob, seconds: 1.25 }],
      '<sc ts="2" user="Eve" uid="9" price="30" time="60" raw="{}">look</sc>' +
        '<gift ts="3" user="Eve" uid="9" giftname="Star" giftcount="2" />' +
        '<guard ts="4" user="Eve" uid="9" level="3" count="1" />',
    ),
    messages: 4,
    shown: [
      [1.25, 'Bob', 'hi'],
      [2, 'Eve', 'look', 'paid'],
      [3, 'Eve', 'Star ×2', 'paid'],
      [4, 'Eve', 'Guard 3 ×1', 'member'],
    ],
  },
  blrec: {
    content:
      "<?xml version='1.0' encoding='UTF-8'?>\n<i>\n" +
      '<chatserver>chat.bilibili.com</chatserver>\n' +
      '<metadata><room_id>1</room_id><recorder>blrec</recorder></metadata>' +
      `<d p="1.250,1,25,16777215,${CHAT_START_MS},0,hash,1" uid="9" user="Bob">hi</d>` +
      '<guard ts="4.000" uid="9" user="Eve" giftname="Captain" count="1" price="1" level="3"/>' +
      '<toast ts="4.000" uid="9" user="Eve" count="1" level="3">Eve is a captain</toast></i>',
    messages: 3,
    shown: [
      [1.25, 'Bob', 'hi'],
      [4, 'Eve', 'Captain ×1', 'member'],
    ],
  },
  'Twitch-Chat-Downloader': {
    content: JSON.stringify(
      { comments: [twitchComment({ ...bob, seconds: 1.25 })], video: { created_at: CHAT_START } },
      undefined,
      4,
    ),
    messages: 1,
    shown: [[1.25, 'Bob', 'hi']],
  },
  justlog: {
    content:
      ircLine({ ...bob, seconds: 1, id: 'a' }) +
      ircLine({ user: 'Eve', text: 'banned', seconds: 2, id: 'b' }) +
      `@ban-duration=600;target-user-id=9;tmi-sent-ts=${start(3) / 1000} ` +
      ':tmi.twitch.tv CLEARCHAT #alice :eve\n',
    messages: 2,
    shown: [[1, 'Bob', 'hi']],
  },
}
