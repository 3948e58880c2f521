// Comments of Twitch as TwitchDownloader, Ganymede and LiveStreamDVR write them.
import { z } from 'zod'
import type { ChatSink, MessageKind } from './chat-message.ts'
import { maybe, maybeNumber, maybeString } from './maybe.ts'

/** Ganymede begins each chat that it converts with this message of its own. */
const GANYMEDE_START_ID = '546a5e6e-c820-4ad2-9421-9ba5b5bf37ea'

const fragment = z.object({
  text: maybeString,
  emoticon: maybe(z.object({ emoticon_id: z.string() })),
})

const comment = z.object({
  _id: maybeString,
  created_at: maybeString,
  content_offset_seconds: maybeNumber,
  commenter: maybe(z.object({ display_name: maybeString, name: maybeString })),
  message: z.object({
    body: maybeString,
    bits_spent: maybeNumber,
    fragments: maybe(z.array(fragment)),
    user_color: maybeString,
    user_badges: maybe(z.array(z.object({ _id: maybeString }))),
    user_notice_params: maybe(z.object({ 'msg-id': maybeString, msg_id: maybeString })),
  }),
})

const video = z.object({
  created_at: maybeString,
  start: maybeNumber,
  end: maybeNumber,
  length: maybeNumber,
})

const emote = z.object({ id: maybeString, name: maybeString, data: z.string() })

/** The comments, the video and the images of a file, or a comment on each line. */
export function readTwitchRecord(record: unknown, sink: ChatSink): void {
  const { data } = comment.safeParse(record)
  if (data === undefined) readOther(record, sink)
  else if (data._id !== GANYMEDE_START_ID) readComment(data, sink)
}

function readOther(record: unknown, sink: ChatSink): void {
  const image = emote.safeParse(record).data
  if (image !== undefined) return sink.emote(image)
  const { data } = video.safeParse(record)
  if (data?.start === undefined && data?.created_at === undefined) return
  const { created_at: createdAt, start = 0, end = 0, length = 0 } = data
  // Of a clip of Twitch, the length and the time are its own, the rest is that of the video.
  const isClip = length > 0 && end > length
  sink.video({
    createdMs: isClip ? undefined : parseClock(createdAt),
    startSeconds: start,
    endSeconds: end,
    lengthSeconds: length,
  })
}

function readComment(data: z.infer<typeof comment>, sink: ChatSink): void {
  const { commenter, message } = data
  const notice = message.user_notice_params
  const kind =
    (message.bits_spent ?? 0) > 0 ? 'paid' : noticeKind(notice?.['msg-id'] ?? notice?.msg_id)
  sink.message({
    offsetSeconds: data.content_offset_seconds,
    clockMs: parseClock(data.created_at),
    // A deleted account has no name.
    user: commenter?.display_name ?? commenter?.name ?? 'unknown',
    login: commenter?.name,
    color: message.user_color,
    // The body has the names of emotes; their ranges differ between writers.
    text: message.body ?? message.fragments?.map(({ text }) => text ?? '').join(''),
    kind,
    badges: message.user_badges?.map(({ _id }) => _id) ?? [],
    emotes: message.fragments?.flatMap(({ text: name, emoticon }) =>
      name === undefined || emoticon === undefined ? [] : [{ id: emoticon.emoticon_id, name }],
    ),
  })
}

/** Milliseconds since 1970 of an ISO 8601 date with a zone. */
export function parseClock(text: string | undefined): number | undefined {
  const hasZone = text !== undefined && text.length < 40 && /(?:Z|[+-]\d\d:?\d\d)$/.test(text)
  const clockMs = hasZone ? Date.parse(text) : NaN
  return Number.isFinite(clockMs) ? clockMs : undefined
}

/** Of Twitch's `msg-id`. */
export function noticeKind(notice: string | undefined): MessageKind | undefined {
  if (notice === undefined || notice === '') return undefined
  if (notice === 'raid') return 'raid'
  if (/sub|paidupgrade$|payforward$/.test(notice)) return 'member'
  return notice === 'announcement' || notice === 'ritual' ? 'system' : undefined
}
