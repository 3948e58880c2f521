#!/usr/bin/env -S node --max-semi-space-size=8
// The program: reads the command line and the configuration, starts the app, and turns failures into exit codes.
// The only file that touches `process`.
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { check } from './app/check.ts'
import { demo } from './app/demo.ts'
import { hide, listHidden, unhide } from './app/hide.ts'
import type { Io } from './app/io.ts'
import { scan } from './app/scan.ts'
import { serve } from './app/serve.ts'
import { stats } from './app/stats.ts'
import { runCommandLine, type CommandActions, type CommandInput } from './cli.ts'
import { loadConfig, type Config } from './config/load-config.ts'
import { readConfigFile } from './config/read-config-file.ts'
import { isAppError } from './errors.ts'

const exitCodes = { done: 0, failed: 1, usage: 2 } as const

/** A terminal and npm both hand on the same Ctrl-C: signals closer together than this are one. */
const sameSignalMs = 500
/** How long what is under way may take to end once the exit code is known. */
const lingerMs = 10_000

const ending = new AbortController()
endOnSignals(ending)
// A reader that goes away (`aftercast serve | head -1`) must not end the server.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
process.exitCode = await main(createIo(ending.signal))
// A worker's channel to its primary would keep it alive.
if (process.connected) process.disconnect()
// Something that was left open does not keep the program: it has said all it had to say.
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

function createActions(io: Io): CommandActions {
  return {
    async serve(input) {
      await serve(await configure(input), io)
      return exitCodes.done
    },
    scan: async (input) => scan(await configure(input), io),
    check: async (input, options) => check(await configure(input), options, io),
    demo: (folder) => demo(folder, io),
    hide: async (input, name) => hide(await configure(input), name, io),
    unhide: async (input, name) => unhide(await configure(input), name, io),
    listHidden: async (input) => listHidden(await configure(input), io),
    stats: async (input, options) => stats(await configure(input), options, io),
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

/** One line for a failure that we know; a stack for one that we do not. */
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

/** SIGINT and SIGTERM ask the program to end; the second one ends it at once. */
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

/** The version in package.json, which lies beside server/, or beside dist/ once it is built. */
async function readVersion(): Promise<string> {
  for (const place of ['../package.json', '../../package.json']) {
    const text = await readFile(new URL(place, import.meta.url), 'utf8').catch(() => undefined)
    const found = text === undefined ? null : /"version":\s*"(?<version>[^"]+)"/.exec(text)
    if (found?.groups?.version !== undefined) return found.groups.version
  }
  return 'unknown'
}
