// A message of a chat as formats read it, and its cleaning. Pure.
import { cleanLine, foldUser, MAX_USER_LENGTH } from '../../base/clean-text.ts'

/** What is not a plain message. */
export type MessageKind = 'paid' | 'member' | 'raid' | 'system'

/** As found in the file: untrusted. */
export interface RawMessage {
  /** Position in the video, or since the recorder's start; may be negative. */
  offsetSeconds?: number | undefined
  /** When it was sent, in milliseconds since 1970. */
  clockMs?: number | undefined
  user: unknown
  color?: unknown
  text: unknown
  kind?: MessageKind | undefined
  badges?: readonly unknown[]
  /** Emotes in the text: their ids, and the words there. */
  emotes?: readonly { id: string; name: string }[] | undefined
  /** By which a live capture reports that it was removed. */
  id?: unknown
  /** The same of all messages of a user. */
  userId?: unknown
  /** The name of the account, if it is not the user. */
  login?: unknown
}

/** What a chat file contains of the video or capture it belongs to. */
export interface ChatVideo {
  /** When offset 0 was. */
  createdMs?: number | undefined
  /** What of the video was downloaded; 0 or undefined: from its start. */
  startSeconds?: number | undefined
  endSeconds?: number | undefined
  lengthSeconds?: number | undefined
}

/** Which messages were removed: one by its id, or of a user one with this text, or all. */
export interface Removal {
  id?: unknown
  userId?: unknown
  text?: unknown
}

/** An image in the file; without a name, messages have that of its id. */
export interface RawEmote {
  id?: string | undefined
  name?: string | undefined
  /** As base64. */
  data: string
}

/** What a format reads of records. */
export interface ChatSink {
  message(this: void, message: RawMessage): void
  video(this: void, video: ChatVideo): void
  removed(this: void, removal: Removal): void
  emote(this: void, emote: RawEmote): void
}

/** A message as it is served, but for its time. */
export interface CleanMessage {
  user: string
  /** `#rrggbb` */
  color?: string
  text: string
  kind?: MessageKind
  badges?: string[]
}

/** Limits of the contract, in UTF-16 code units. */
export const MAX_MESSAGE_LENGTH = 500
const MAX_BADGES = 8
const MAX_BADGE_LENGTH = 40
const COLOR = /^#[0-9a-f]{6}$/

/** Whether the message is of one of these users, named as `foldUser` returns them. */
export function isOfUser({ user, userId, login }: RawMessage, names: ReadonlySet<string>): boolean {
  if (names.size === 0) return false
  return [user, userId, login].some((name) => {
    const folded = foldUser(name)
    return folded !== undefined && names.has(folded)
  })
}

/** Undefined without a text or a user. */
export function cleanMessage(raw: RawMessage): CleanMessage | undefined {
  const user = cleanLine(raw.user, MAX_USER_LENGTH)
  const text = cleanLine(raw.text, MAX_MESSAGE_LENGTH)
  if (user === undefined || text === undefined) return undefined
  const color = typeof raw.color === 'string' ? raw.color.slice(0, 8).toLowerCase() : ''
  const badges = (raw.badges ?? [])
    .slice(0, MAX_BADGES)
    .flatMap((badge) => cleanLine(badge, MAX_BADGE_LENGTH) ?? [])
  return {
    user,
    ...(COLOR.test(color) && { color }),
    text,
    ...(raw.kind !== undefined && { kind: raw.kind }),
    ...(badges.length > 0 && { badges }),
  }
}
