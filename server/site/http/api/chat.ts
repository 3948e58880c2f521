// GET /api/chat/…: the index of a session's chat, its messages in buckets of a minute, and its
// emotes.
import type { ChatIndexResponse } from '../../../../shared/contract.ts'
import { outsidePatterns, sessionKey } from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import type { SessionRow } from '../../../library/catalog/catalog.ts'
import { BUCKET_SECONDS } from '../../../stream/chat/chats.ts'
import { chatTags } from '../../purge/cache-tags.ts'
import type { ApiSources } from './api-sources.ts'
import { findPlayable } from './find-playable.ts'
import { answerJson } from '../responses/answer.ts'
import type { Answer, CacheRule, Call, Endpoint } from '../responses/answer.ts'
import type { SessionChats } from './session-chats.ts'
import { parseName } from '../session-parameters.ts'

/** `0.json` to `99999.json`; only the usual form of a number is a name. */
const BUCKET_NAME = /^(0|[1-9]\d{0,4})\.json$/

export function createChatEndpoints({ catalog, sessionChats }: ApiSources): Endpoint[] {
  const find = (call: Call): { row: SessionRow; chats: SessionChats } => {
    const row = findPlayable(catalog, call)
    call.tag(chatTags(row))
    if (sessionChats === undefined) throw new AppError('not_found', 'there is no chat')
    return { row, chats: sessionChats }
  }
  return [
    {
      path: outsidePatterns.chat,
      kind: 'chat',
      admission: 'inside',
      answer: async (call) => {
        const { row, chats } = find(call)
        const { counts, version, isGrowing: growing, emotes } = await chats.find(row, call.signal)
        const total = counts.reduce((sum, count) => sum + count, 0)
        const bucketSeconds = BUCKET_SECONDS
        const index: ChatIndexResponse = { version, bucketSeconds, counts, total, growing, emotes }
        // It names the URLs of buckets, which change with each user that is hidden.
        return answerText(`chat ${sessionKey(row)}`, JSON.stringify(index), 'short')
      },
    },
    {
      path: outsidePatterns.chatBucket,
      kind: 'chat',
      admission: 'inside',
      answer: async (call) => {
        const version = parseName(call.request.params, 'version')
        const file = parseName(call.request.params, 'file')
        const { row, chats } = find(call)
        const [, bucket] = BUCKET_NAME.exec(file) ?? []
        if (bucket === undefined) throw new AppError('not_found', 'there is no such file')
        const address = { version, bucket: Number(bucket) }
        const { json, isFinal } = await chats.bucket(row, address, call.signal)
        const key = `chat ${sessionKey(row)}/${version}/${file}`
        return answerText(key, json, isFinal ? 'immutable' : 'short')
      },
    },
    {
      path: outsidePatterns.chatEmotes,
      kind: 'chat',
      admission: 'inside',
      answer: async (call) => {
        const version = parseName(call.request.params, 'version')
        const { row, chats } = find(call)
        const { bytes, release } = await chats.emotes(row, version, call.signal)
        return {
          body: { kind: 'image', bytes, etag: `"${version}"` },
          type: 'image/webp',
          cache: 'immutable',
          security: 'image',
          release,
        }
      },
    },
  ]
}

function answerText(key: string, text: string, cache: CacheRule): Answer {
  return answerJson({ cached: { key, version: text }, format: () => text, cache })
}
