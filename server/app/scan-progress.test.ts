// Progress in the log: few lines, right numbers, and none for growing recordings.
import { expect, it } from 'vitest'
import { createProgressDisplay, createScanQueueTracker, followFirstScan } from './scan-progress.ts'

function createTestScan() {
  const state = { nowMs: 0, lines: [] as [object, string][] }
  const logger = {
    info: (details: object, message: string) => void state.lines.push([details, message]),
  }
  const io = { terminal: undefined }
  const scan = followFirstScan(createProgressDisplay({ io, logger, now: () => state.nowMs }))
  return { state, scan }
}

it('logs at most one line in ten seconds, and the end', async () => {
  const { state, scan } = createTestScan()
  scan.update({ found: 40, done: 0, total: 40 })
  scan.walked()
  for (let done = 1; done <= 40; done += 1) {
    state.nowMs += 1000
    scan.update({ found: 40, done, total: 40 })
  }
  await scan.indexed
  expect(state.lines).toEqual([
    [{ found: 40, indexed: 10, total: 40 }, 'indexing recordings'],
    [{ found: 40, indexed: 20, total: 40 }, 'indexing recordings'],
    [{ found: 40, indexed: 30, total: 40 }, 'indexing recordings'],
    [{ found: 40, indexed: 40, total: 40 }, 'indexing recordings'],
    [{ found: 40 }, 'the recordings are indexed'],
  ])
})

it('logs nothing for a short scan, nor while a recording grows', async () => {
  const { state, scan } = createTestScan()
  scan.update({ found: 2, done: 0, total: 2 })
  scan.walked()
  // One of them waits until it has settled, and is inspected again with each change.
  for (let done = 1; done <= 600; done += 1) {
    scan.update({ found: 2, done, total: done + 1 })
    state.nowMs += 6000
  }
  await scan.indexed
  expect(state.lines).toEqual([])
})

it('is complete after the walk where nothing is new', async () => {
  const { scan } = createTestScan()
  scan.update({ found: 2, done: 0, total: 0 })
  scan.walked()
  await expect(scan.indexed).resolves.toBeUndefined()
})

it('has an empty queue without age at first', () => {
  expect(createScanQueueTracker(() => 5).read()).toEqual({ recordings: 0, ageMs: 0 })
})

it('ages its queue from the first waiting recording until it is empty again', () => {
  let nowMs = 100
  const queue = createScanQueueTracker(() => nowMs)
  queue.update({ found: 3, done: 0, total: 3 })
  nowMs = 150
  queue.update({ found: 3, done: 2, total: 3 })
  nowMs = 170
  expect(queue.read()).toEqual({ recordings: 1, ageMs: 70 })
  queue.update({ found: 3, done: 3, total: 3 })
  expect(queue.read()).toEqual({ recordings: 0, ageMs: 0 })
  nowMs = 200
  queue.update({ found: 4, done: 3, total: 4 })
  nowMs = 210
  expect(queue.read()).toEqual({ recordings: 1, ageMs: 10 })
})
