// `npm run bench -- kills`: kills the server at random moments while it scans, migrates its
// catalog, makes thumbnails, and serves a growing recording; then nothing may be lost.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startServer } from '../../test/support/servers/start-server.ts'
import { describeMachine } from '../machine.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable, median } from '../table.ts'
import { openGrowing } from './kill-growing.ts'
import { openMigration } from './kill-migration.ts'
import { openScan } from './kill-scan.ts'
import type { KillScene, OpenScene } from './kill-scene.ts'
import { openThumbnails } from './kill-thumbnails.ts'

const SCENES: Readonly<Record<string, OpenScene>> = {
  scan: openScan,
  migration: openMigration,
  thumbnails: openThumbnails,
  growing: openGrowing,
}

const ENVIRONMENT = { AFTERCAST_WORKERS: '1' }
const MAX_START_MS = 3000
const SHOWN_FAULTS = 5

/** Prints the table; rejects if anything was lost or duplicated. */
export async function benchKills(options: BenchOptions): Promise<void> {
  mkdirSync(options.cache, { recursive: true })
  const rows: string[][] = []
  const faults: string[] = []
  for (const [name, open] of Object.entries(SCENES)) {
    const folder = mkdtempSync(path.join(options.cache, 'kills-'))
    try {
      const scene = await open(folder, options)
      const outcome = await killRepeatedly(scene, options.kills)
      await scene.close?.()
      faults.push(...outcome.faults.map((fault) => `${name}: ${fault}`))
      rows.push([name, ...format(outcome)])
      console.error(rows.at(-1)?.join(' '))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  const head = ['killed while', 'kills', 'faults', 'start p50 ms', 'longest', 'over 3 s']
  for (const line of [...describeMachine([]), '', ...formatTable([head, ...rows])])
    console.log(line)
  if (faults.length > 0) throw new Error(faults.slice(0, SHOWN_FAULTS).join('\n'))
}

interface Outcome {
  kills: number
  faults: string[]
  startsMs: number[]
}

async function killRepeatedly(scene: KillScene, kills: number): Promise<Outcome> {
  const outcome: Outcome = { kills, faults: [], startsMs: [] }
  for (let kill = 0; kill < kills; kill += 1) {
    await scene.prepare?.()
    await startAndKill(scene, ((kill + Math.random()) / kills) * scene.killWithinMs)
    const startedMs = performance.now()
    const server = await startServer({ args: scene.args, environment: ENVIRONMENT })
    outcome.startsMs.push(performance.now() - startedMs)
    outcome.faults.push(...(await scene.check(server)))
    await server.kill()
  }
  return outcome
}

async function startAndKill(scene: KillScene, afterMs: number): Promise<void> {
  const kill = new AbortController()
  const starting = startServer({ args: scene.args, environment: ENVIRONMENT, signal: kill.signal })
  if (scene.killAfter === 'start') {
    const killed = sleep(afterMs).then(() => kill.abort())
    const started = await starting.catch(() => undefined)
    await killed
    await started?.kill()
    return
  }
  const server = await starting
  const using = scene.use(server, kill.signal).catch(() => undefined)
  await sleep(afterMs)
  kill.abort()
  await Promise.all([using, server.kill()])
}

function format({ kills, faults, startsMs }: Outcome): string[] {
  return [
    String(kills),
    String(faults.length),
    median(startsMs).toFixed(0),
    Math.max(...startsMs).toFixed(0),
    String(startsMs.filter((ms) => ms > MAX_START_MS).length),
  ]
}
