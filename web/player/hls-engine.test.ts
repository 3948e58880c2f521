// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { hlsConfig } from './hls-engine.ts'

test('works in a web worker, without low latency, from the start', () => {
  expect(hlsConfig(0)).toMatchObject({
    enableWorker: true,
    lowLatencyMode: false,
    startPosition: 0,
    workerPath: expect.stringContaining('hls.worker'),
  })
})

test('waits no longer than a second between tries for a piece, and as often as the library would', () => {
  const { fragLoadPolicy, keyLoadPolicy } = hlsConfig(0)
  const pauses = { retryDelayMs: 500, maxRetryDelayMs: 1000 }
  expect(fragLoadPolicy?.default.errorRetry).toMatchObject({ ...pauses, maxNumRetry: 6 })
  expect(keyLoadPolicy?.default.errorRetry).toMatchObject(pauses)
})
