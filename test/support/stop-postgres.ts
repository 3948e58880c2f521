// Global setup of Vitest: a folder for the PostgreSQL server that test files share, which is ended
// after the last one.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestProject } from 'vitest/node'
import { patienceMs } from './patience.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresFolder: string
  }
}

export function setup(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'aftercast-postgres-'))
  project.provide('postgresFolder', folder)
  return async () => {
    await stopServer(path.join(folder, 'data', 'postmaster.pid'))
    rmSync(folder, { recursive: true, force: true })
  }
}

async function stopServer(pidFile: string): Promise<void> {
  if (!existsSync(pidFile)) return
  const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10)
  process.kill(pid, 'SIGQUIT')
  const deadlineMs = performance.now() + patienceMs
  while (isRunning(pid) && performance.now() < deadlineMs) await sleep(20)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
