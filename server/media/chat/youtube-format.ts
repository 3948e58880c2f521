// Chat of YouTube as yt-dlp writes it: one action of the page's own format on each line.
import { z } from 'zod'
import type { ChatSink, MessageKind } from './chat-message.ts'
import { maybe, maybeNumber, maybeString } from './maybe.ts'

const simpleText = maybe(z.object({ simpleText: maybeString }))
const emoji = z.object({ emojiId: maybeString, shortcuts: maybe(z.array(z.string())) })
const run = z.object({ text: maybeString, emoji: maybe(emoji) })
const runs = maybe(z.object({ simpleText: maybeString, runs: maybe(z.array(run)) }))
const badges = maybe(
  z.array(z.object({ liveChatAuthorBadgeRenderer: z.object({ tooltip: maybeString }) })),
)
const label = z.object({ accessibilityData: z.object({ label: maybeString }) })
const gift = z.object({ authorName: simpleText, primaryText: runs, authorBadges: badges })

const renderer = z.object({
  id: maybeString,
  timestampUsec: maybeNumber,
  timestampText: simpleText,
  authorName: simpleText,
  authorExternalChannelId: maybeString,
  message: runs,
  headerPrimaryText: runs,
  headerSubtext: runs,
  /** Of new members, before 2021. */
  eventText: runs,
  detailText: runs,
  purchaseAmountText: simpleText,
  authorBadges: badges,
  sticker: maybe(z.object({ accessibility: label })),
  header: maybe(z.object({ liveChatSponsorshipsHeaderRenderer: gift })),
})

/** One renderer by its name. */
const item = z.record(z.string(), z.unknown())
const byId = maybe(z.object({ targetItemId: maybeString }))
const byAuthor = maybe(z.object({ externalChannelId: maybeString }))
const action = z.object({
  addChatItemAction: maybe(z.object({ item })),
  replaceChatItemAction: maybe(z.object({ targetItemId: maybeString, replacementItem: item })),
  markChatItemAsDeletedAction: byId,
  removeChatItemAction: byId,
  markChatItemsByAuthorAsDeletedAction: byAuthor,
  removeChatItemByAuthorAction: byAuthor,
})
const line = z.object({
  replayChatItemAction: z.object({ actions: z.array(action), videoOffsetTimeMsec: maybeNumber }),
  videoOffsetTimeMsec: maybeNumber,
})

const kinds: Readonly<Record<string, MessageKind | 'message'>> = {
  liveChatTextMessageRenderer: 'message',
  liveChatPaidMessageRenderer: 'paid',
  liveChatPaidStickerRenderer: 'paid',
  liveChatMembershipItemRenderer: 'member',
  liveChatLegacyPaidMessageRenderer: 'member',
  liveChatSponsorshipsGiftPurchaseAnnouncementRenderer: 'member',
  liveChatSponsorshipsGiftRedemptionAnnouncementRenderer: 'member',
}

export function readYoutubeRecord(record: unknown, sink: ChatSink): void {
  const { data } = line.safeParse(record)
  if (data === undefined) return
  const { actions, videoOffsetTimeMsec: offsetMs = data.videoOffsetTimeMsec } =
    data.replayChatItemAction
  for (const each of actions) {
    const replaced = each.replaceChatItemAction
    const one = each.markChatItemAsDeletedAction ?? each.removeChatItemAction ?? replaced
    const all = each.markChatItemsByAuthorAsDeletedAction ?? each.removeChatItemByAuthorAction
    if (one !== undefined) sink.removed({ id: one.targetItemId })
    if (all !== undefined) sink.removed({ userId: all.externalChannelId })
    const added = each.addChatItemAction?.item ?? replaced?.replacementItem ?? {}
    const [found] = Object.entries(added)
    if (found !== undefined) readItem(found, { offsetMs, sink })
  }
}

function readItem(
  [name, value]: [string, unknown],
  { offsetMs, sink }: { offsetMs: number | undefined; sink: ChatSink },
): void {
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  const { data } = renderer.safeParse(value)
  if (kind === undefined || data === undefined) return
  const gifts = data.header?.liveChatSponsorshipsHeaderRenderer
  const texts = [
    data.purchaseAmountText?.simpleText,
    data.sticker?.accessibility.accessibilityData.label,
    joinRuns(gifts?.primaryText),
    joinRuns(data.headerPrimaryText),
    joinRuns(data.headerSubtext),
    joinRuns(data.eventText),
    joinRuns(data.detailText),
    joinRuns(data.message),
  ]
  sink.message({
    offsetSeconds: offsetMs === undefined ? undefined : offsetOf(offsetMs, data.timestampText),
    clockMs: data.timestampUsec === undefined ? undefined : data.timestampUsec / 1000,
    user: data.authorName?.simpleText ?? gifts?.authorName?.simpleText,
    text: texts.filter((text) => text !== undefined && text !== '').join(' '),
    kind: kind === 'message' ? undefined : kind,
    badges: (data.authorBadges ?? gifts?.authorBadges ?? []).map(
      (badge) => badge.liveChatAuthorBadgeRenderer.tooltip,
    ),
    id: data.id,
    userId: data.authorExternalChannelId,
  })
}

/** YouTube gives 0 for what was written before the start, and the true position as `-1:05`. */
function offsetOf(offsetMs: number, text: z.infer<typeof simpleText>): number {
  const [, clock] = /^-(\d{1,4}(?::\d\d){1,2})$/.exec(text?.simpleText ?? '') ?? []
  if (offsetMs > 0 || clock === undefined) return offsetMs / 1000
  return -clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
}

/** Emoji by their name, or as the character itself. */
function joinRuns(text: z.infer<typeof runs>): string | undefined {
  const parts = text?.runs?.map(
    (each) => each.text ?? each.emoji?.shortcuts?.[0] ?? each.emoji?.emojiId ?? '',
  )
  return parts?.join('') ?? text?.simpleText
}
