// Chat of YouTube as yt-dlp writes it: one action of the page's own format on each line.
import { z } from 'zod'
import type { ChatSink, MessageKind } from './chat-message.ts'
import type { ChatRecord } from './record-splitter.ts'
import { maybeNumber, maybeString } from './twitch-format.ts'

const simpleText = z.object({ simpleText: maybeString }).optional().catch(undefined)
const run = z.object({
  text: maybeString,
  emoji: z
    .object({ emojiId: maybeString, shortcuts: z.array(z.string()).optional().catch(undefined) })
    .optional()
    .catch(undefined),
})
const runs = z
  .object({ simpleText: maybeString, runs: z.array(run).optional().catch(undefined) })
  .optional()
  .catch(undefined)
type Runs = z.infer<typeof runs>

const badges = z
  .array(z.object({ liveChatAuthorBadgeRenderer: z.object({ tooltip: maybeString }) }))
  .optional()
  .catch(undefined)
const label = z.object({ accessibilityData: z.object({ label: maybeString }) })

const renderer = z.object({
  id: maybeString,
  timestampUsec: maybeNumber,
  timestampText: simpleText,
  authorName: simpleText,
  authorExternalChannelId: maybeString,
  message: runs,
  headerPrimaryText: runs,
  headerSubtext: runs,
  purchaseAmountText: simpleText,
  authorBadges: badges,
  sticker: z.object({ accessibility: label }).optional().catch(undefined),
  /** Of gifts. */
  header: z
    .object({
      liveChatSponsorshipsHeaderRenderer: z.object({
        authorName: simpleText,
        primaryText: runs,
        authorBadges: badges,
      }),
    })
    .optional()
    .catch(undefined),
})

/** One renderer by its name. */
const item = z.record(z.string(), z.unknown())

const line = z.object({
  replayChatItemAction: z.object({
    actions: z.array(
      z.object({
        addChatItemAction: z.object({ item }).optional(),
        replaceChatItemAction: z
          .object({ targetItemId: maybeString, replacementItem: item })
          .optional(),
        markChatItemAsDeletedAction: z.object({ targetItemId: maybeString }).optional(),
        removeChatItemAction: z.object({ targetItemId: maybeString }).optional(),
        markChatItemsByAuthorAsDeletedAction: z
          .object({ externalChannelId: maybeString })
          .optional(),
        removeChatItemByAuthorAction: z.object({ externalChannelId: maybeString }).optional(),
      }),
    ),
    videoOffsetTimeMsec: maybeNumber,
  }),
  videoOffsetTimeMsec: maybeNumber,
})

const kinds: Readonly<Record<string, MessageKind | 'message'>> = {
  liveChatTextMessageRenderer: 'message',
  liveChatPaidMessageRenderer: 'paid',
  liveChatPaidStickerRenderer: 'paid',
  liveChatMembershipItemRenderer: 'member',
  liveChatSponsorshipsGiftPurchaseAnnouncementRenderer: 'member',
  liveChatSponsorshipsGiftRedemptionAnnouncementRenderer: 'member',
}

export function readYoutubeRecord({ value }: ChatRecord, sink: ChatSink): void {
  const { data } = line.safeParse(value)
  if (data === undefined) return
  const { actions, videoOffsetTimeMsec: offsetMs = data.videoOffsetTimeMsec } =
    data.replayChatItemAction
  for (const action of actions) {
    const replaced = action.replaceChatItemAction
    const [one, all] = [
      action.markChatItemAsDeletedAction ?? action.removeChatItemAction ?? replaced,
      action.markChatItemsByAuthorAsDeletedAction ?? action.removeChatItemByAuthorAction,
    ]
    if (one !== undefined) sink.removed({ id: one.targetItemId })
    if (all !== undefined) sink.removed({ userId: all.externalChannelId })
    const items = Object.entries(action.addChatItemAction?.item ?? replaced?.replacementItem ?? {})
    for (const [name, value] of items.slice(0, 1)) readItem(name, value, { offsetMs, sink })
  }
}

function readItem(
  name: string,
  value: unknown,
  { offsetMs, sink }: { offsetMs: number | undefined; sink: ChatSink },
): void {
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  const { data } = renderer.safeParse(value)
  if (kind === undefined || data === undefined) return
  const gift = data.header?.liveChatSponsorshipsHeaderRenderer
  const texts = [
    data.purchaseAmountText?.simpleText,
    data.sticker?.accessibility.accessibilityData.label,
    joinRuns(gift?.primaryText),
    joinRuns(data.headerPrimaryText),
    joinRuns(data.headerSubtext),
    joinRuns(data.message),
  ]
  sink.message({
    offsetSeconds: offsetMs === undefined ? undefined : offsetOf(offsetMs, data.timestampText),
    clockMs: data.timestampUsec === undefined ? undefined : data.timestampUsec / 1000,
    user: data.authorName?.simpleText ?? gift?.authorName?.simpleText,
    text: texts.filter((text) => text !== undefined && text !== '').join(' '),
    kind: kind === 'message' ? undefined : kind,
    badges: (data.authorBadges ?? gift?.authorBadges ?? []).map(
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
function joinRuns(text: Runs): string | undefined {
  const parts = text?.runs?.map((each) => {
    const { text: plain, emoji } = each
    return plain ?? emoji?.shortcuts?.[0] ?? emoji?.emojiId ?? ''
  })
  return parts?.join('') ?? text?.simpleText
}
