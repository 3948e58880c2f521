// Chats that are captured live, with the time at which each message was sent: chat-downloader,
// `.chat.jsonl`, and logs of IRC.
import { z } from 'zod'
import type { ChatSink, MessageKind } from './chat-message.ts'
import { maybe, maybeNumber, maybeString } from './maybe.ts'
import { noticeKind, parseClock } from './twitch-format.ts'

const capturedAuthor = z.object({
  id: maybeString,
  /** Who was banned from a chat of Twitch. */
  target_id: maybeString,
  name: maybeString,
  display_name: maybeString,
  badges: maybe(z.array(z.object({ name: maybeString, title: maybeString }))),
})

const captured = z.object({
  action_type: maybeString,
  message_id: maybeString,
  target_message_id: maybeString,
  message_type: maybeString,
  /** Microseconds since 1970. */
  timestamp: maybeNumber,
  time_in_seconds: maybeNumber,
  message: maybeString,
  system_message: maybeString,
  header_primary_text: maybeString,
  header_secondary_text: maybeString,
  /** Of Twitch: chat-downloader's name, and Ganymede's. */
  bits: maybeNumber,
  bits_spent: maybeNumber,
  /** Ganymede's; its `message` has the text of the system. */
  user_notice_params: maybe(z.object({ 'msg-id': maybeString })),
  money: maybe(z.object({ text: maybeString })),
  colour: maybeString,
  author: maybe(z.union([capturedAuthor, z.string().transform((name) => ({ name }))])),
  /** Before version 0.1 of 2021, `author` was the name, and this was beside it. */
  author_id: maybeString,
  badges: maybeString,
  amount: maybeString,
})

/** An entry of chat-downloader's list, which Ganymede writes too. */
export function readCapturedRecord(record: unknown, sink: ChatSink): void {
  const { data } = captured.safeParse(record)
  if (data === undefined) return
  const { action_type: action = '', message_type: type = '', timestamp } = data
  const author: z.infer<typeof capturedAuthor> = { id: data.author_id, ...data.author }
  if (/^(?:delete_message|deleted_message|ban_user)$/.test(type)) {
    return sink.removed({ id: data.target_message_id, userId: author.target_id ?? author.id })
  }
  // They show messages a second time.
  if (/^add_(?:live_chat_ticker|banner)/.test(action)) return
  const isPaid = data.amount !== undefined || (data.bits ?? data.bits_spent ?? 0) > 0
  const texts = [
    data.money?.text ?? data.amount,
    data.header_primary_text,
    data.header_secondary_text,
    data.system_message,
    data.message,
  ]
  sink.message({
    offsetSeconds: data.time_in_seconds,
    clockMs: timestamp === undefined ? undefined : timestamp / 1000,
    user: author.display_name ?? author.name,
    login: author.name,
    color: data.colour,
    text: texts.filter((text) => text !== undefined && text !== '').join(' '),
    kind: isPaid ? 'paid' : capturedKind(type, data.user_notice_params?.['msg-id']),
    badges: author.badges?.map(({ title, name }) => title ?? name) ?? data.badges?.split(',') ?? [],
    id: data.message_id,
    userId: author.id,
  })
}

function capturedKind(type: string, notice: string | undefined): MessageKind | undefined {
  if (/^paid_|^donation/.test(type)) return 'paid'
  if (/member|sponsor|gift|_upgrade$|_forward$/.test(type)) return 'member'
  if (type === 'user_notice') return noticeOf(notice)
  return noticeKind(type)
}

const entry = z.object({
  t: maybeString,
  type: maybeString,
  u: maybeString,
  login: maybeString,
  color: maybeString,
  msg: maybeString,
  badges: z.unknown().optional(),
})

/** A line of `.chat.jsonl`; removals have the login, and the text of one message or none. */
export function readJsonLine(record: unknown, sink: ChatSink): void {
  const { data } = entry.safeParse(record)
  if (data === undefined) return
  const { type = 'PRIVMSG', login, msg } = data
  const name = type.toUpperCase()
  if (name === 'CLEARCHAT') return sink.removed({ userId: login ?? msg })
  if (name === 'CLEARMSG') return sink.removed({ userId: login, text: msg })
  sink.message({
    clockMs: parseClock(data.t),
    user: data.u ?? login,
    color: data.color,
    text: msg,
    kind: name === 'USERNOTICE' ? 'system' : noticeKind(type.toLowerCase()),
    badges: badgesOf(data.badges),
    userId: login,
  })
}

function badgesOf(badges: unknown): readonly unknown[] {
  if (Array.isArray(badges)) return badges
  return typeof badges === 'string' ? splitBadges(badges) : []
}

/** `moderator/1,subscriber/12`, without the versions. */
function splitBadges(badges: string): string[] {
  return badges.split(',', 16).map((badge) => badge.split('/', 1)[0] ?? '')
}

/** A message of IRC with the tags of Twitch (https://ircv3.net/specs/extensions/message-tags). */
export function readIrcLine(record: unknown, sink: ChatSink): void {
  const [tagText = '', source = '', command = '', , ...words] = String(record).split(' ')
  if (!tagText.startsWith('@')) return
  const tags = new Map(tagText.slice(1).split(';').map(parseTag))
  const rest = words.join(' ')
  const text = rest.startsWith(':') ? rest.slice(1) : rest
  const login = /^:([^!]+)!/.exec(source)?.[1] ?? tags.get('login')
  if (command === 'CLEARCHAT') return sink.removed({ userId: text })
  if (command === 'CLEARMSG') return sink.removed({ id: tags.get('target-msg-id') })
  if (command !== 'PRIVMSG' && command !== 'USERNOTICE') return
  const system = tags.get('system-msg') ?? ''
  const isNotice = command === 'USERNOTICE'
  sink.message({
    clockMs: Number(tags.get('tmi-sent-ts') || NaN),
    user: tags.get('display-name') || login,
    color: tags.get('color'),
    text: [system, withoutAction(text)].filter((part) => part !== '').join(' '),
    kind: tags.has('bits') ? 'paid' : isNotice ? noticeOf(tags.get('msg-id')) : undefined,
    badges: splitBadges(tags.get('badges') ?? '').filter((badge) => badge !== ''),
    id: tags.get('id'),
    userId: login,
  })
}

function noticeOf(id: string | undefined): MessageKind {
  return noticeKind(id) ?? 'system'
}

/** `\x01ACTION waves\x01` is what `/me waves` sends. */
function withoutAction(text: string): string {
  const start = '\u0001ACTION '
  return text.startsWith(start) ? text.slice(start.length) : text
}

const escapes: Readonly<Record<string, string>> = { ':': ';', s: ' ', r: ' ', n: ' ' }

function parseTag(tag: string): [string, string] {
  const at = tag.indexOf('=')
  if (at === -1) return [tag, '']
  const value = tag.slice(at + 1)
  const plain = value.includes('\\')
    ? value.replaceAll(/\\(.?)/g, (_, letter: string) => escapes[letter] ?? letter)
    : value
  return [tag.slice(0, at), plain]
}
