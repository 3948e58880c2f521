// Chat of YouTube as yt-dlp writes it: one action of the page's own format on each line.
import { z } from 'zod'
import type { ChatSink, MessageKind } from './chat-message.ts'
import type { ChatRecord } from './record-splitter.ts'
import { maybeString } from './twitch-format.ts'

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

const renderer = z.object({
  id: maybeString,
  timestampUsec: z.union([z.string(), z.number()]).optional().catch(undefined),
  authorName: simpleText,
  authorExternalChannelId: maybeString,
  message: runs,
  headerPrimaryText: runs,
  headerSubtext: runs,
  purchaseAmountText: simpleText,
  authorBadges: z
    .array(z.object({ liveChatAuthorBadgeRenderer: z.object({ tooltip: maybeString }) }))
    .optional()
    .catch(undefined),
})

const line = z.object({
  replayChatItemAction: z.object({
    actions: z.array(
      z.object({
        addChatItemAction: z.object({ item: z.record(z.string(), z.unknown()) }).optional(),
        markChatItemAsDeletedAction: z.object({ targetItemId: maybeString }).optional(),
        removeChatItemAction: z.object({ targetItemId: maybeString }).optional(),
        markChatItemsByAuthorAsDeletedAction: z
          .object({ externalChannelId: maybeString })
          .optional(),
        removeChatItemByAuthorAction: z.object({ externalChannelId: maybeString }).optional(),
      }),
    ),
    videoOffsetTimeMsec: z.coerce.number().optional().catch(undefined),
  }),
  videoOffsetTimeMsec: z.coerce.number().optional().catch(undefined),
})

const kinds: Readonly<Record<string, MessageKind | 'message'>> = {
  liveChatTextMessageRenderer: 'message',
  liveChatPaidMessageRenderer: 'paid',
  liveChatPaidStickerRenderer: 'paid',
  liveChatMembershipItemRenderer: 'member',
  liveChatSponsorshipsGiftRedemptionAnnouncementRenderer: 'member',
}

export function readYoutubeRecord({ value }: ChatRecord, sink: ChatSink): void {
  const { data } = line.safeParse(value)
  if (data === undefined) return
  const { actions, videoOffsetTimeMsec: offsetMs = data.videoOffsetTimeMsec } =
    data.replayChatItemAction
  for (const action of actions) {
    const [id, userId] = [
      action.markChatItemAsDeletedAction ?? action.removeChatItemAction,
      action.markChatItemsByAuthorAsDeletedAction ?? action.removeChatItemByAuthorAction,
    ]
    if (id !== undefined) sink.removed({ id: id.targetItemId })
    if (userId !== undefined) sink.removed({ userId: userId.externalChannelId })
    const items = Object.entries(action.addChatItemAction?.item ?? {})
    for (const [name, item] of items.slice(0, 1)) readItem(name, item, { offsetMs, sink })
  }
}

function readItem(
  name: string,
  item: unknown,
  { offsetMs, sink }: { offsetMs: number | undefined; sink: ChatSink },
): void {
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  const { data } = renderer.safeParse(item)
  if (kind === undefined || data === undefined) return
  const texts = [
    data.purchaseAmountText?.simpleText,
    joinRuns(data.headerPrimaryText),
    joinRuns(data.headerSubtext),
    joinRuns(data.message),
  ]
  const clockMs = Number(data.timestampUsec) / 1000
  sink.message({
    offsetSeconds: offsetMs === undefined ? undefined : offsetMs / 1000,
    clockMs: Number.isFinite(clockMs) ? clockMs : undefined,
    user: data.authorName?.simpleText,
    text: texts.filter((text) => text !== undefined && text !== '').join(' '),
    kind: kind === 'message' ? undefined : kind,
    badges: data.authorBadges?.map((badge) => badge.liveChatAuthorBadgeRenderer.tooltip) ?? [],
    id: data.id,
    userId: data.authorExternalChannelId,
  })
}

/** Emoji by their name, or as the character itself. */
function joinRuns(text: Runs): string | undefined {
  const parts = text?.runs?.map((each) => {
    const { text: plain, emoji } = each
    return plain ?? emoji?.shortcuts?.[0] ?? emoji?.emojiId ?? ''
  })
  return parts?.join('') ?? text?.simpleText
}
