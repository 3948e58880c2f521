import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { readKeyFrames } from '../../../test/demux/key-frames.ts'
import { patientDecoder, soon } from '../../../test/support/patience.ts'
import type { ChildOptions } from '../child/decoder-pool.ts'
import { createSandbox } from '../child/sandbox.ts'
import type { KeyFrame } from '../../media/media-index.ts'
import { createDecoder } from './decoder.ts'
import type { Decoder } from './decoder.ts'
import { sniffImageType } from './image-format.ts'
import type { ImageFormat } from './image-format.ts'

const { signal } = new AbortController()
const open: Decoder[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const decoder of open.splice(0)) decoder.close()
})

/** A decoder whose process ids the test can see. */
function start(options: ChildOptions = {}) {
  const pids: number[] = []
  const log = {
    debug: (details: object) => void ('pid' in details && pids.push(Number(details.pid))),
    warn: () => undefined,
  }
  const limits = { ...patientDecoder, ...options.limits }
  const decoder = createDecoder({ ...options, limits, log })
  open.push(decoder)
  return { decoder, pids }
}

async function firstKeyFrame(name: string): Promise<KeyFrame> {
  const [frame] = await readKeyFrames(name)
  if (frame === undefined) throw new Error(`${name} has no key frame`)
  return frame
}

async function rendered(decoder: Decoder, frame: KeyFrame, format: ImageFormat = 'jpeg') {
  const result = await decoder.render({ frame, format }, signal)
  if (result.status !== 'done') throw new Error(result.reason)
  return result.value
}

describe('createDecoder', () => {
  it.each(['avif', 'webp', 'jpeg'] as const)('renders %s in the fitted size', async (format) => {
    const { decoder } = start()
    const image = await rendered(
      decoder,
      await firstKeyFrame('mp4-h264-aac-moov-first.mp4'),
      format,
    )
    expect(sniffImageType(image.bytes)).toBe(`image/${format}`)
    expect([image.width, image.height]).toEqual([640, 360])
    expect(image.bytes.length).toBeLessThan(40_000)
    expect(image.meanLuma).toBeGreaterThan(40)
    expect(image.hasErrors).toBe(false)
  })

  it.each([
    ['ts-h264-aac-cea608.ts', [400, 170]],
    ['mp4-hevc-hvc1-aac.mp4', [640, 360]],
    ['mp4-av1-10bit-aac-portrait.mp4', [640, 1138]],
    ['webm-vp9-odd-size-161x121.webm', [160, 120]],
    ['webm-vp8-opus-mediarecorder-no-cues-no-duration-truncated.webm', [640, 480]],
    ['ts-mpeg2-1080i-422-dts-mp2-two-audio.ts', [640, 360]],
  ])('decodes %s', async (name, size) => {
    const { decoder } = start()
    const image = await rendered(decoder, await firstKeyFrame(name), 'avif')
    expect([image.width, image.height]).toEqual(size)
    expect(sniffImageType(image.bytes)).toBe('image/avif')
  })

  it('rotates a rotated recording upright', async () => {
    const { decoder } = start()
    const frame = await firstKeyFrame('mov-h264-aac-rotated90-audio-first.mov')
    const lying = await rendered(decoder, frame)
    const upright = await rendered(decoder, { ...frame, rotationDegrees: 90 })
    expect([lying.width, lying.height]).toEqual([568, 320])
    expect([upright.width, upright.height]).toEqual([320, 568])
  })

  it('measures how dark an image is', async () => {
    const { decoder } = start()
    const black = await rendered(decoder, await firstKeyFrame('ts-h264-aac-pat-not-at-start.ts'))
    expect(black.meanLuma).toBeLessThan(2)
    expect(black.lumaDeviation).toBeLessThan(2)
  })

  it('returns undecodable for noise and continues', async () => {
    const { decoder, pids } = start()
    const good = await firstKeyFrame('mp4-h264-aac-moov-first.mp4')
    const noise = Uint8Array.from({ length: 5000 }, (_, position) => (position * 7919) % 251)
    for (const codec of ['h264', 'hevc', 'av1', 'vp9', 'vp8', 'mpeg2video'] as const) {
      const frame: KeyFrame = { codec, data: noise, rotationDegrees: 0 }
      const result = await decoder.render({ frame, format: 'jpeg' }, signal)
      expect(result.status, codec).not.toBe('killed')
    }
    expect((await rendered(decoder, good)).width).toBe(640)
    expect(pids).toHaveLength(1)
  })

  it('never crashes or hangs on a corrupt recording', async () => {
    const { decoder } = start()
    const good = await firstKeyFrame('mp4-h264-aac-moov-first.mp4')
    for (let seed = 1; seed <= 40; seed++) {
      const data = Uint8Array.from(good.data)
      for (let hit = 0; hit < 20; hit++) data[(seed * 9973 + hit * 7331) % data.length] = seed + hit
      const result = await decoder.render({ frame: { ...good, data }, format: 'jpeg' }, signal)
      expect(['done', 'undecodable']).toContain(result.status)
    }
  })

  it('refuses a frame above the size limit without decoding it', async () => {
    const { decoder, pids } = start()
    const frame: KeyFrame = { codec: 'h264', data: new Uint8Array(2 ** 24 + 1), rotationDegrees: 0 }
    expect(await decoder.render({ frame, format: 'jpeg' }, signal)).toMatchObject({
      status: 'undecodable',
    })
    expect(pids).toHaveLength(0)
  })

  it('loses only the running job when the process crashes', async () => {
    const { decoder, pids } = start()
    const frame = await firstKeyFrame('mp4-h264-aac-moov-first.mp4')
    await rendered(decoder, frame)
    process.kill(Number(pids[0]), 'SIGSTOP')
    const inFlight = decoder.render({ frame, format: 'jpeg' }, signal)
    const waiting = decoder.render({ frame, format: 'jpeg' }, signal)
    await sleep(50)
    process.kill(Number(pids[0]), 'SIGSEGV')
    process.kill(Number(pids[0]), 'SIGCONT')
    expect(await inFlight).toMatchObject({
      status: 'killed',
      reason: expect.stringMatching('SIGSEGV'),
    })
    expect(await waiting).toMatchObject({ status: 'done' })
    expect(pids).toHaveLength(2)
  })

  it('distinguishes a process without processor time from one that takes too long', async () => {
    const { decoder, pids } = start()
    const frame = await firstKeyFrame('mp4-h264-aac-moov-first.mp4')
    await rendered(decoder, frame)
    process.kill(Number(pids[0]), 'SIGSTOP')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const rendering = decoder.render({ frame, format: 'jpeg' }, signal)
    const failure = rendering.catch((error: unknown) => error)
    await expect.poll(() => vi.getTimerCount(), soon).toBe(1)
    vi.advanceTimersByTime(patientDecoder.jobMs)
    vi.useRealTimers()
    expect(await failure).toMatchObject({ code: 'busy' })
    await expect.poll(() => isAlive(Number(pids[0]))).toBe(false)
    expect((await rendered(decoder, frame)).width).toBe(640)
  })

  it.runIf(process.platform === 'linux')(
    'kills a process that exceeds the memory limit',
    async () => {
      const { decoder, pids } = start({ limits: { residentBytes: 8 * 1024 * 1024 } })
      const frame = await firstKeyFrame('mp4-h264-aac-moov-first.mp4')
      expect(await decoder.render({ frame, format: 'avif' }, signal)).toEqual({
        status: 'killed',
        reason: 'the job exceeded its memory limit',
      })
      await expect.poll(() => isAlive(Number(pids[0]))).toBe(false)
    },
  )

  it('ends an idle process and starts another on demand', async () => {
    const { decoder, pids } = start({ limits: { idleMs: 30 } })
    const frame = await firstKeyFrame('mp4-h264-aac-moov-first.mp4')
    await rendered(decoder, frame)
    await expect.poll(() => isAlive(Number(pids[0]))).toBe(false)
    await rendered(decoder, frame)
    expect(pids).toHaveLength(2)
  })

  it('renders where the tools of the sandbox are missing', async () => {
    const { decoder } = start({ sandbox: createSandbox({ searchPath: '/nonexistent' }) })
    const frame = await firstKeyFrame('mp4-h264-aac-moov-first.mp4')
    expect((await rendered(decoder, frame)).width).toBe(640)
  })

  it('rejects running and waiting jobs when it closes', async () => {
    const { decoder } = start()
    const frame = await firstKeyFrame('mp4-h264-aac-moov-first.mp4')
    const jobs = [1, 2].map(() => decoder.render({ frame, format: 'avif' }, signal))
    decoder.close()
    const outcomes = await Promise.allSettled(jobs)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
