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
