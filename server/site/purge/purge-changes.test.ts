import { beforeEach, describe, expect, it } from 'vitest'
import type { StreamerItem } from '../../../shared/contract.ts'
import type { SessionReference } from '../../../shared/paths.ts'
import type { SessionRow } from '../../library/catalog/catalog.ts'
import { rowOf as rowOfName } from '../../library/catalog/store/hidden.ts'
import type { HiddenName } from '../../library/catalog/store/hidden.ts'
import { AppError } from '../../base/errors.ts'
import { chatTag, SITE_TAG, sessionTag, streamerTag } from './cache-tags.ts'
import { ChangedTags } from './purge-changes.ts'

const SETTLE_MS = 30_000
const session = { streamer: 'alice', date: '2026-01-31', sessionId: '1' }

let generation: number
let changes: SessionReference[] | 'all'
let hidden: HiddenName[]
let streamers: StreamerItem[]
/** Thrown by the next lookup of a session. */
let failure: Error | undefined
/** When the recording of `session` was modified; undefined if there is none. */
let modifiedMs: number | undefined

beforeEach(() => {
  generation = 7
  changes = []
  hidden = []
  streamers = ['alice', 'bob'].map((name) => ({ name, recording_count: 1 }))
  modifiedMs = 0
  failure = undefined
})

function follow(): ChangedTags {
  return new ChangedTags({
    settleMs: SETTLE_MS,
    hidden: { list: () => hidden },
    catalog: {
      generation: () => generation,
      changes: (after) => (after === generation ? [] : changes),
      listStreamers: () => streamers,
      findSession: (found) => {
        const error = failure
        failure = undefined
        if (error !== undefined) throw error
        if (hidden.length > 0) throw new AppError('gone', 'hidden')
        return modifiedMs === undefined ? undefined : rowOf(found, modifiedMs)
      },
    },
  })
}

function rowOf(found: SessionReference, changedMs: number): SessionRow {
  const state = { status: 'found' } as const
  const file = { sizeBytes: 1, modifiedMs: changedMs, settlesAtMs: 0 }
  return { ...found, path: '', kind: 'file', ...file, state }
}

function change(made: SessionReference[] | 'all' = [session]): void {
  generation += 1
  changes = made
}

describe('the tags of changes', () => {
  it('are those of a finished session at each change, and of a removed one', () => {
    const tags = follow()
    expect(tags.next(SETTLE_MS)).toEqual([])
    change()
    expect(tags.next(SETTLE_MS)).toEqual([sessionTag(session)])
    expect(tags.next(SETTLE_MS)).toEqual([])
    modifiedMs = undefined
    change()
    expect(tags.next(SETTLE_MS)).toEqual([sessionTag(session)])
  })

  it('are those of a session that starts to grow, and not again until it is finished', () => {
    const tags = follow()
    modifiedMs = 1000
    change()
    expect(tags.next(2000)).toEqual([sessionTag(session)])
    modifiedMs = 3000
    change()
    expect(tags.next(4000)).toEqual([])
    change()
    expect(tags.next(3000 + SETTLE_MS)).toEqual([])
    change()
    expect(tags.next(3000 + SETTLE_MS)).toEqual([sessionTag(session)])
  })

  it('are those of hidden names, with the streamer of a session', () => {
    hidden = [{ kind: 'session', ...session }]
    const tags = follow()
    expect(tags.next(0)).toEqual([sessionTag(session), streamerTag('alice'), SITE_TAG])
    hidden = [...hidden, { kind: 'streamer', streamer: 'bob' }]
    change([{ streamer: 'bob', date: '', sessionId: '' }])
    expect(tags.next(0)).toEqual([streamerTag('bob'), SITE_TAG])
    hidden = []
    change([{ streamer: 'bob', date: '', sessionId: '' }])
    expect(tags.next(0)).toEqual([])
  })

  it('are those of chats when a user of them is hidden, and shown again', () => {
    hidden = [{ kind: 'chat-user', user: 'eve', streamer: 'alice' }]
    const tags = follow()
    expect(tags.next(0)).toEqual([chatTag('alice')])
    const ofAll: HiddenName = { kind: 'chat-user', user: 'eve' }
    hidden = [...hidden, ofAll]
    change([rowOfName(ofAll)])
    expect(new Set(tags.next(0))).toEqual(new Set([chatTag(undefined)]))
    hidden = hidden.slice(0, 1)
    change([rowOfName(ofAll)])
    expect(tags.next(0)).toEqual([chatTag(undefined)])
  })

  it('are those of all streamers after very many changes, once a minute', () => {
    const tags = follow()
    const all = [streamerTag('alice'), streamerTag('bob')]
    change('all')
    expect(tags.next(0)).toEqual(all)
    change('all')
    expect(tags.next(1000)).toEqual([])
    expect(tags.next(60_000)).toEqual(all)
    expect(tags.next(120_000)).toEqual([])
  })

  it('are those of all streamers again after the clock was set back', () => {
    const tags = follow()
    change('all')
    expect(tags.next(1e9)).toHaveLength(2)
    change('all')
    expect(tags.next(0)).toHaveLength(2)
  })

  it('are those of more streamers than a call can have arguments', () => {
    streamers = Array.from({ length: 200_000 }, (_, n) => ({ name: `s${n}`, recording_count: 1 }))
    const tags = follow()
    change('all')
    expect(tags.next(0)).toHaveLength(200_000)
  })

  it('are complete after a call that failed', () => {
    const tags = follow()
    tags.next(0)
    hidden = [{ kind: 'streamer', streamer: 'bob' }]
    failure = new Error('the disk failed')
    change()
    expect(() => tags.next(0)).toThrow('the disk failed')
    expect(tags.next(0)).toEqual([streamerTag('bob'), SITE_TAG, sessionTag(session)])
    expect(tags.next(0)).toEqual([])
  })
})
