import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AppError } from '../errors.ts'
import { createLog } from './logger.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

interface Line {
  level: number
  msg: string
  err?: { type: string; message: string; code?: string; stack?: string }
  path?: string
  lines?: unknown
}

function createTestLog({ requests = false } = {}) {
  const written: string[] = []
  const recovered: ((dropped: number) => void)[] = []
  const log = createLog(
    { log: { level: 'info', requests, slowMs: 1000 } },
    {
      write: (line) => void written.push(line),
      dropped: 7,
      onRecovered: (listener) => void recovered.push(listener),
      flush: async () => undefined,
      close: async () => undefined,
    },
  )
  const lines = (): Line[] => written.map((line) => JSON.parse(line))
  return { ...log, written, lines, recover: (dropped: number) => recovered[0]?.(dropped) }
}

function openFails(path: string): Error {
  const cause = Object.assign(new Error(`EMFILE: too many open files, open '${path}'`), {
    code: 'EMFILE',
  })
  return new AppError('failed', `${path} cannot be read`, { cause })
}

describe('the log', () => {
  it('has one stack and few lines for an error that repeats, whatever it names', () => {
    const { logger, written, lines, figures } = createTestLog()
    for (let i = 0; i < 500; i += 1) {
      const path = `alice/2026-01-31/${i}.mp4`
      logger.warn({ err: openFails(path), path }, 'request failed')
    }
    expect(lines()).toHaveLength(10)
    expect(lines().filter(({ err }) => err?.stack !== undefined)).toHaveLength(1)
    expect(lines()[9]).toMatchObject({
      path: 'alice/2026-01-31/9.mp4',
      err: { type: 'AppError', code: 'failed', message: expect.stringContaining('EMFILE') },
    })
    expect(written.join('').length).toBeLessThan(10_000)
    expect(figures()).toEqual({ unwritable: 7, repeated: 490 })
  })

  it('reports once per interval how many lines are missing, and then logs stacks again', () => {
    const { logger, lines } = createTestLog()
    const fail = (): void => logger.warn({ err: openFails('a.mp4') }, 'request failed')
    for (let i = 0; i < 30; i += 1) fail()
    vi.advanceTimersByTime(60_000)
    expect(lines().slice(10)).toMatchObject([
      { level: 40, msg: 'repeated log lines were left out', lines: { 'request failed': 20 } },
    ])
    fail()
    expect(lines().at(-1)?.err?.stack).toContain('EMFILE')
  })

  it('logs errors of another message or place completely', () => {
    const { logger, lines } = createTestLog()
    for (let i = 0; i < 3; i += 1) logger.warn({ err: openFails('a.mp4') }, 'one')
    logger.warn({ err: openFails('a.mp4') }, 'two')
    logger.error({ err: new TypeError('elsewhere') }, 'one')
    expect(lines().map(({ err }) => err?.stack !== undefined)).toEqual([
      true,
      false,
      false,
      true,
      true,
    ])
  })

  it('limits warnings without an error, unless each request is logged', () => {
    const slow = { url: '/', ms: 2000 }
    const limited = createTestLog()
    const unlimited = createTestLog({ requests: true })
    for (let i = 0; i < 1500; i += 1) {
      limited.logger.warn(slow, 'slow request')
      unlimited.logger.warn(slow, 'slow request')
    }
    expect(limited.lines()).toHaveLength(1000)
    expect(unlimited.lines()).toHaveLength(1500)
  })

  it('reports lines that stderr did not accept', () => {
    const { lines, recover } = createTestLog()
    recover(12)
    expect(lines()).toMatchObject([{ msg: 'log lines could not be written', lines: 12 }])
  })
})
