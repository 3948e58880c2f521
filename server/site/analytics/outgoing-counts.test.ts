// Counters that leave the file in batches: each row is in one batch, which stays until it was sent.
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openActivityStore } from './activity-store.ts'
import type { ActivityStore, DailyCount } from './activity-store.ts'
import { openOutgoingCounts } from './outgoing-counts.ts'
import type { OutgoingCounts } from './outgoing-counts.ts'
import { makeTempFolder } from '../../../test/support/temp-folder.ts'

let folder: string
let file: string
let store: ActivityStore

beforeEach(() => {
  folder = makeTempFolder('outgoing')
  file = path.join(folder, 'analytics.sqlite')
  store = openActivityStore(file)
})

afterEach(() => store.close())

function countOf(sessionId: string, amount = 1): DailyCount {
  const names = { label: '', zone: '', streamer: 'alice', date: '2026-01-31', sessionId }
  return { day: '2026-02-01', name: 'begin_video', ...names, amount }
}

function open(): OutgoingCounts {
  const outgoing = openOutgoingCounts(file)
  if (outgoing === undefined) throw new Error('the file does not exist')
  return outgoing
}

describe('openOutgoingCounts', () => {
  it('reads the same batch until it is removed, also in another process', () => {
    store.add([countOf('1', 3)])
    const first = open()
    const batch = first.read()
    expect(batch?.counts).toEqual([countOf('1', 3)])
    first.close()
    store.add([countOf('1'), countOf('2')])
    const second = open()
    expect(second.read()).toEqual(batch)
    second.remove(batch?.id ?? '')
    const next = second.read()
    expect(next?.counts).toEqual([countOf('1'), countOf('2')])
    expect(next?.id).not.toBe(batch?.id)
    second.remove(next?.id ?? '')
    expect(second.read()).toBe(undefined)
    second.close()
  })

  it('splits many counters into batches', () => {
    store.add(Array.from({ length: 4500 }, (_, at) => countOf(String(at))))
    const outgoing = open()
    const sizes: number[] = []
    for (let batch = outgoing.read(); batch !== undefined; batch = outgoing.read()) {
      sizes.push(batch.counts.length)
      outgoing.remove(batch.id)
    }
    expect(sizes).toEqual([2000, 2000, 500])
    outgoing.close()
  })

  it('is undefined while nothing has been counted', () => {
    expect(openOutgoingCounts(path.join(folder, 'missing.sqlite'))).toBe(undefined)
  })
})
