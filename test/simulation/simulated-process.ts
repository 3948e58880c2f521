// Replaces what programs take from their process (timers, clocks, random numbers, files below
// ROOT) by that of a world while one is attached. The code of the nodes stays as it is.
import legacyFs from 'node:fs'
import type { MakeDirectoryOptions } from 'node:fs'
import fs from 'node:fs/promises'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { ROOT } from './memory-files.ts'
import type { MemoryFiles } from './memory-files.ts'
import { existsInMemory, simulateSqlite } from './memory-sqlite.ts'
import './real-timers.ts'
import { SimulatedTimer } from './simulated-timer.ts'
import type { World } from './world.ts'

interface Attached {
  world: World
  files: MemoryFiles
}

/** Attaches a world, or undefined for the real process. */
export type Attach = (attached: Attached | undefined) => void

/** Once per process, before the modules of the product are loaded. */
export function simulateProcess(): Attach {
  let attached: Attached | undefined
  const world = (): World | undefined => attached?.world
  simulateClocks(world)
  simulateTimers(world)
  simulateRandom(world)
  simulateFiles(() => attached?.files)
  simulateLegacyFiles(() => attached?.files)
  simulateSqlite()
  syncBuiltinESMExports()
  return (next) => {
    attached = next
  }
}

type CurrentWorld = () => World | undefined

function simulateClocks(world: CurrentWorld): void {
  const RealDate = Date
  const realNow = Date.now.bind(Date)
  class SimulatedDate extends RealDate {
    constructor(...values: ConstructorParameters<typeof Date> | []) {
      if (values.length === 0) super(world()?.wallMs() ?? realNow())
      else super(...values)
    }

    static override now(): number {
      return world()?.wallMs() ?? realNow()
    }
  }
  Reflect.set(globalThis, 'Date', SimulatedDate)
  const realPerformanceNow = performance.now.bind(performance)
  replace(performance, 'now', () => world()?.nowMs ?? realPerformanceNow())
}

type Callback = (...values: unknown[]) => void

function simulateTimers(world: CurrentWorld): void {
  const real = { setTimeout, setInterval, setImmediate, clearTimeout }
  const start = (name: 'setTimeout' | 'setInterval' | 'setImmediate') => {
    const begin = Reflect.get(real, name)
    return (run: Callback, ...rest: unknown[]): unknown => {
      const current = world()
      if (current === undefined) return Reflect.apply(begin, undefined, [run, ...rest])
      const values = name === 'setImmediate' ? rest : rest.slice(1)
      const delayMs = name === 'setImmediate' ? 0 : Math.max(1, Number(rest[0] ?? 1))
      const isRepeated = name === 'setInterval'
      return new SimulatedTimer(current, { delayMs, isRepeated, run: () => run(...values) })
    }
  }
  const stop = (timer: unknown): void => {
    if (timer instanceof SimulatedTimer) timer.close()
    else Reflect.apply(real.clearTimeout, undefined, [timer])
  }
  for (const name of ['setTimeout', 'setInterval', 'setImmediate'] as const) {
    replace(globalThis, name, start(name))
    replace(globalThis, name.replace('set', 'clear'), stop)
  }
  replace(timers, 'setTimeout', pausing(world, timers.setTimeout))
  const realNextTurn = timers.setImmediate
  const nextTurn = pausing(world, async (_ms, value, options) => realNextTurn(value, options))
  replace(timers, 'setImmediate', async (value: unknown, options?: PauseOptions) =>
    nextTurn(0, value, options),
  )
  const realTimeout = AbortSignal.timeout.bind(AbortSignal)
  replace(AbortSignal, 'timeout', (ms: number) => {
    if (world() === undefined) return realTimeout(ms)
    const limit = new AbortController()
    setTimeout(() => limit.abort(new DOMException('timed out', 'TimeoutError')), ms)
    return limit.signal
  })
}

interface PauseOptions {
  signal?: AbortSignal | undefined
}

/** The timers of `node:timers/promises`. */
function pausing(
  world: CurrentWorld,
  real: (ms?: number, value?: unknown, options?: PauseOptions) => Promise<unknown>,
) {
  return async (delayMs = 1, value?: unknown, options: PauseOptions = {}): Promise<unknown> => {
    const current = world()
    if (current === undefined) return real(delayMs, value, options)
    const { signal } = options
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const abort = (): void => {
      reject(new DOMException('The operation was aborted', { name: 'AbortError' }))
    }
    if (signal?.aborted === true) abort()
    signal?.addEventListener('abort', abort, { once: true })
    const timer = new SimulatedTimer(current, { delayMs, run: () => resolve(value) })
    return promise.finally(() => {
      timer.close()
      signal?.removeEventListener('abort', abort)
    })
  }
}

function simulateRandom(world: CurrentWorld): void {
  const realUuid = crypto.randomUUID.bind(crypto)
  const realBytes = crypto.randomBytes.bind(crypto)
  const bytesOf = (size: number): Buffer => {
    const bytes = Buffer.alloc(size)
    world()?.draws.fill(bytes)
    return bytes
  }
  const uuid = (): string => {
    if (world() === undefined) return realUuid()
    return bytesOf(16)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  }
  replace(crypto, 'randomUUID', uuid)
  replace(crypto.webcrypto, 'randomUUID', uuid)
  replace(crypto, 'randomBytes', (size: number) =>
    world() === undefined ? realBytes(size) : bytesOf(size),
  )
  const realRandom = Math.random
  replace(Math, 'random', () => world()?.draws.unit() ?? realRandom())
}

function simulateFiles(files: () => MemoryFiles | undefined): void {
  for (const name of [
    'readFile',
    'writeFile',
    'open',
    'stat',
    'mkdir',
    'readdir',
    'rename',
    'link',
    'rm',
    'unlink',
  ] as const) {
    const real: unknown = Reflect.get(fs, name)
    replace(fs, name, async (...values: unknown[]) => {
      const current = files()
      if (current === undefined || !String(values[0]).startsWith(ROOT)) return call(real, values)
      return call(Reflect.get(current, name).bind(current), values)
    })
  }
}

/** `readFile` with a callback, or promisified; and the calls before a SQLite file is opened. */
function simulateLegacyFiles(files: () => MemoryFiles | undefined): void {
  const real: unknown = legacyFs.readFile
  replace(legacyFs, 'readFile', (path: unknown, ...rest: unknown[]) => {
    const done = rest.at(-1)
    const current = files()
    if (current === undefined || typeof done !== 'function' || !String(path).startsWith(ROOT)) {
      return call(real, [path, ...rest])
    }
    void readFor(current, String(path), (error, bytes) =>
      Reflect.apply(done, undefined, [error, bytes]),
    )
    return undefined
  })
  const { existsSync, mkdirSync } = legacyFs
  replace(legacyFs, 'existsSync', (path: string) =>
    path.startsWith(ROOT) ? existsInMemory(path) : existsSync(path),
  )
  replace(legacyFs, 'mkdirSync', (path: string, options?: MakeDirectoryOptions) =>
    path.startsWith(ROOT) ? undefined : mkdirSync(path, options),
  )
}

async function readFor(
  files: MemoryFiles,
  path: string,
  done: (error: unknown, bytes?: unknown) => void,
): Promise<void> {
  try {
    const bytes = await files.readFile(path)
    done(null, bytes)
  } catch (error) {
    done(error)
  }
}

function call(work: unknown, values: unknown[]): unknown {
  if (typeof work !== 'function') throw new TypeError('not simulated')
  return Reflect.apply(work, undefined, values)
}

function replace(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, configurable: true, writable: true })
}
