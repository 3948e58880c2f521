// GET /api/chat/…: the index of a session's chat, and its messages in buckets of a minute.
import type { ChatIndexResponse } from '../../../../shared/contract.ts'
import { outsidePatterns, sessionKey } from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import type { Catalog } from '../../../library/catalog/catalog.ts'
import { BUCKET_SECONDS } from '../../../stream/chat/chats.ts'
import { chatTags } from '../../purge/cache-tags.ts'
import { findPlayable } from './find-playable.ts'
import { JSON_TYPE } from '../responses/answer.ts'
import type { Endpoint } from '../responses/answer.ts'
import type { SessionChats } from './session-chats.ts'
import { parseName } from '../session-parameters.ts'

interface Sources {
  catalog: Catalog
  /** Undefined: chats are not served. */
  sessionChats: SessionChats | undefined
}

/** `0.json` to `99999.json`; only the usual form of a number is a name. */
const BUCKET_NAME = /^(0|[1-9]\d{0,4})\.json$/

export function createChatEndpoints({ catalog, sessionChats }: Sources): Endpoint[] {
  const chats = (): SessionChats => {
    if (sessionChats === undefined) throw new AppError('not_found', 'there is no chat')
    return sessionChats
  }
  return [
    {
      path: outsidePatterns.chat,
      kind: 'chat',
      admission: 'inside',
      answer: async (call) => {
        const row = findPlayable(catalog, call)
        call.tag(chatTags(row))
        const { counts, version, isGrowing: growing } = await chats().find(row, call.signal)
        const total = counts.reduce((sum, count) => sum + count, 0)
        const bucketSeconds = BUCKET_SECONDS
        const index: ChatIndexResponse = { version, bucketSeconds, counts, total, growing }
        const text = JSON.stringify(index)
        return {
          body: {
            kind: 'text',
            cached: { key: `chat ${sessionKey(row)}`, version: text },
            format: () => text,
          },
          type: JSON_TYPE,
          // It names the URLs of buckets, which change with each user that is hidden.
          cache: 'short',
          security: 'data',
        }
      },
    },
    {
      path: outsidePatterns.chatBucket,
      kind: 'chat',
      admission: 'inside',
      answer: async (call) => {
        const version = parseName(call.request.params, 'version')
        const file = parseName(call.request.params, 'file')
        const row = findPlayable(catalog, call)
        call.tag(chatTags(row))
        const [, bucket] = BUCKET_NAME.exec(file) ?? []
        if (bucket === undefined) throw new AppError('not_found', 'there is no such file')
        const address = { version, bucket: Number(bucket) }
        const { json, isFinal } = await chats().bucket(row, address, call.signal)
        return {
          body: {
            kind: 'text',
            cached: { key: `chat ${sessionKey(row)}/${version}/${file}`, version: json },
            format: () => json,
          },
          type: JSON_TYPE,
          cache: isFinal ? 'immutable' : 'short',
          security: 'data',
        }
      },
    },
  ]
}
