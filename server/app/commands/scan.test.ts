import pino from 'pino'
import { expect, it } from 'vitest'
import { AppError } from '../../base/errors.ts'
import { followReads, reportScan } from './scan.ts'

const { signal } = new AbortController()
const logger = pino({ level: 'silent' })

it('reports folders and recordings that cannot be read, until they can', async () => {
  const playable = { status: 'playable', durationSeconds: 1, isFlawed: false } as const
  const reads = followReads(async () => playable, logger)
  const denied = Object.assign(new Error('EACCES: /srv/a'), { code: 'EACCES' })
  reads.onProblem({ kind: 'folder', path: 'a', error: denied })
  const failed = new AppError('failed', 'the disk reports an error')
  for (const path of ['a/1.mp4', 'a/2.mp4']) {
    reads.onProblem({ kind: 'inspection', path, error: failed })
  }
  await reads.inspect({ path: 'a/1.mp4', kind: 'file' }, signal)

  const lines: string[] = []
  const stderr = (line: string): void => void lines.push(line)
  expect(reportScan({ note: undefined, unread: reads }, { stderr })).toBe(false)
  expect(lines).toEqual([
    'a: cannot be read: permission denied: give this user read permission',
    'a/2.mp4: cannot be read: the disk reports an error',
  ])
})
