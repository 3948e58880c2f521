// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { hlsConfig } from './hls-engine.ts'

test('uses a web worker, no low latency, and start position 0', () => {
  expect(hlsConfig(0)).toMatchObject({
    enableWorker: true,
    lowLatencyMode: false,
    startPosition: 0,
    workerPath: expect.stringContaining('hls.worker'),
  })
})

test('retries segments after at most a second, as often as the default', () => {
  const { fragLoadPolicy, keyLoadPolicy } = hlsConfig(0)
  const pauses = { retryDelayMs: 500, maxRetryDelayMs: 1000 }
  expect(fragLoadPolicy?.default.errorRetry).toMatchObject({ ...pauses, maxNumRetry: 6 })
  expect(keyLoadPolicy?.default.errorRetry).toMatchObject(pauses)
})
