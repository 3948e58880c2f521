// Real worker processes that run scripts of a line.
import cluster from 'node:cluster'
import type { Worker } from 'node:cluster'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { patienceMs, soon } from '../../test/support/patience.ts'
import { superviseWorkers } from './supervisor.ts'
import type { Supervisor, SupervisorLimits } from './supervisor.ts'
import { makeTempFolder } from '../../test/support/temp-folder.ts'

const folder = makeTempFolder('workers')
const running: Supervisor[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map((supervisor) => supervisor.close()))
})
const SERVES = "process.send('started'); setInterval(() => undefined, 1000)"
const HANGS = 'setInterval(() => undefined, 1000)'
const DIES = 'process.exit(1)'

const LIMITS: SupervisorLimits = {
  startMs: patienceMs,
  firstPauseMs: 1,
  longestPauseMs: 4,
  stableMs: patienceMs,
  logMs: 0,
  closeMs: patienceMs,
}

interface Logged {
  restartMs: number
  failures: number
  signal?: string
  reason?: string
}

/** Supervises a worker: its n-th process runs the n-th script, each further one the last. */
function supervise(scripts: string[], limits: Partial<SupervisorLimits> = {}) {
  const logged: Logged[] = []
  let forks = 0
  const fork = (): Worker => {
    const exec = path.join(folder, `${forks}.mjs`)
    writeFileSync(exec, scripts[Math.min(forks, scripts.length - 1)] ?? '')
    forks += 1
    cluster.setupPrimary({ exec, args: [], execArgv: [], cwd: folder })
    return cluster.fork()
  }
  const supervisor = superviseWorkers({
    count: 1,
    fork,
    readStart: (message) => (message === 'started' ? { status: 'started' } : undefined),
    limits: { ...LIMITS, ...limits },
    logger: { error: (details: Logged) => void logged.push(details) },
    signal: new AbortController().signal,
  })
  running.push(supervisor)
  return { supervisor, logged, forks: () => forks }
}

describe('superviseWorkers', () => {
  it('restarts a worker that dies at once, after pauses that double up to a limit', async () => {
    const { logged, supervisor } = supervise([DIES, DIES, DIES, DIES, SERVES])
    await expect.poll(() => logged.map(({ restartMs }) => restartMs), soon).toEqual([1, 2, 4, 4])
    await supervisor.firstStarts
    await expect.poll(() => supervisor.workers(), soon).toHaveLength(1)
  })

  it('starts with the first pause again after a worker that ran long enough', async () => {
    const { logged } = supervise([DIES, DIES, SERVES], { stableMs: 0 })
    await expect.poll(() => logged.map(({ restartMs }) => restartMs), soon).toEqual([1, 1])
  })

  it('kills a worker that hangs at its start', async () => {
    const { logged, forks } = supervise([HANGS, SERVES], { startMs: 1 })
    await expect.poll(() => logged[0]?.reason, soon).toBe('it did not start in time')
    expect(forks()).toBeGreaterThan(0)
  })

  it('replaces a worker that was killed', async () => {
    const { supervisor, logged, forks } = supervise([SERVES])
    await supervisor.firstStarts
    supervisor.workers()[0]?.process.kill('SIGKILL')
    await expect.poll(forks, soon).toBe(2)
    expect(logged).toMatchObject([{ signal: 'SIGKILL', failures: 1 }])
  })

  it('survives processes that cannot be created', async () => {
    const { supervisor, logged } = supervise([SERVES])
    await supervisor.firstStarts
    const missing = path.join(folder, 'missing')
    const { signal } = new AbortController()
    const failures: Logged[] = []
    let attempts = 0
    const unable = superviseWorkers({
      count: 1,
      fork: () => {
        attempts += 1
        if (attempts === 1) throw new Error('spawn ENOMEM')
        cluster.setupPrimary({ cwd: missing })
        return cluster.fork()
      },
      readStart: () => undefined,
      limits: LIMITS,
      logger: { error: (details: Logged) => void failures.push(details) },
      signal,
    })
    running.push(unable)
    await expect.poll(() => failures.length, soon).toBeGreaterThan(2)
    expect(failures[0]?.reason).toBe('spawn ENOMEM')
    expect(failures[1]?.reason).toContain('ENOENT')
    expect(logged).toEqual([])
  })

  it('logs once per interval', async () => {
    const { logged, forks } = supervise([DIES], { logMs: patienceMs })
    await expect.poll(forks, soon).toBeGreaterThan(4)
    expect(logged).toHaveLength(1)
  })

  it('ends its workers', async () => {
    const { supervisor, logged } = supervise([SERVES])
    await supervisor.firstStarts
    await supervisor.close()
    expect([supervisor.workers(), logged]).toEqual([[], []])
  })
})
