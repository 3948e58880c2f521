#!/usr/bin/env -S node --max-semi-space-size=8
// The program: parses the command line and configuration, starts the app, and maps failures to exit
// codes. The only file that uses `process`.
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import type { Io } from './app/io.ts'
import { runCommandLine, type CommandActions, type CommandInput } from './cli.ts'
import { loadConfig, type Config } from './config/load-config.ts'
import { readConfigFile } from './config/read-config-file.ts'
import { isAppError } from './errors.ts'

const exitCodes = { done: 0, failed: 1, usage: 2 } as const

/**
 * The terminal and npm both forward the same Ctrl-C: signals closer together than this count as
 * one.
 */
const sameSignalMs = 500
/** Time limit for the process to exit once the exit code is known. */
const lingerMs = 10_000

const ending = new AbortController()
endOnSignals(ending)
// A closed pipe (`aftercast serve | head -1`) must not end the server.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
process.exitCode = await main(createIo(ending.signal))
// A worker's channel to its primary would keep it alive.
if (process.connected) process.disconnect()
// Open handles must not keep the process alive.
setTimeout(() => process.exit(), lingerMs).unref()

async function main(io: Io): Promise<number> {
  try {
    return await runCommandLine(process.argv.slice(2), {
      actions: createActions(io),
      version: await readVersion(),
      output: {
        stdout: (text) => process.stdout.write(text),
        stderr: (text) => process.stderr.write(text),
      },
    })
  } catch (error) {
    if (io.signal.aborted && isAbort(error)) return exitCodes.done
    return tell(error, io)
  }
}

/** Each command loads its own modules: a server takes four times as long to load as the rest. */
function createActions(io: Io): CommandActions {
  return {
    async serve(input) {
      const { serve } = await import('./app/serve.ts')
      await serve(await configure(input), io)
      return exitCodes.done
    },
    async scan(input) {
      const { scan } = await import('./app/scan.ts')
      return scan(await configure(input), io)
    },
    async check(input, options) {
      const { check } = await import('./app/check.ts')
      return check(await configure(input), options, io)
    },
    async demo(folder) {
      const { demo } = await import('./app/demo.ts')
      return demo(folder, io)
    },
    async hide(input, name) {
      const { hide } = await import('./app/hide.ts')
      return hide(await configure(input), name, io)
    },
    async unhide(input, name) {
      const { unhide } = await import('./app/hide.ts')
      return unhide(await configure(input), name, io)
    },
    async listHidden(input) {
      const { listHidden } = await import('./app/hide.ts')
      return listHidden(await configure(input), io)
    },
    async stats(input, options) {
      const { stats } = await import('./app/stats.ts')
      return stats(await configure(input), options, io)
    },
  }
}

async function configure({ flags, configFile }: CommandInput): Promise<Config> {
  const workingFolder = process.cwd()
  const file = await readConfigFile({ named: configFile, workingFolder })
  const cpuCount = availableParallelism()
  return loadConfig({ flags, environment: process.env, file, workingFolder, cpuCount })
}

function createIo(signal: AbortSignal): Io {
  return {
    stdout: (line) => process.stdout.write(`${line}\n`),
    stderr: (line) => process.stderr.write(`${line}\n`),
    isTerminal: process.stderr.isTTY,
    signal,
  }
}

/** One line for a known failure, a stack for an unknown one. */
function tell(error: unknown, io: Io): number {
  if (!isAppError(error)) {
    io.stderr(
      `aftercast: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    )
    return exitCodes.failed
  }
  io.stderr(`aftercast: ${error.message.replaceAll(/\s*\n\s*/g, ' ')}`)
  return error.code === 'usage' ? exitCodes.usage : exitCodes.failed
}

/** SIGINT and SIGTERM request the end; the second one exits at once. */
function endOnSignals(controller: AbortController): void {
  let firstMs: number | undefined
  const end = (signal: NodeJS.Signals): void => {
    const nowMs = performance.now()
    firstMs ??= nowMs
    controller.abort()
    if (nowMs - firstMs > sameSignalMs) process.exit(signal === 'SIGINT' ? 130 : 143)
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/** The version in package.json, next to server/, or next to dist/ once built. */
async function readVersion(): Promise<string> {
  for (const place of ['../package.json', '../../package.json']) {
    const text = await readFile(new URL(place, import.meta.url), 'utf8').catch(() => undefined)
    const found = text === undefined ? null : /"version":\s*"(?<version>[^"]+)"/.exec(text)
    if (found?.groups?.version !== undefined) return found.groups.version
  }
  return 'unknown'
}
