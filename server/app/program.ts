// The program without its process: runs a command with the configuration of its surroundings, and
// maps failures to exit codes.
import { readFile } from 'node:fs/promises'
import { inspect } from 'node:util'
import { inOneLine } from '../../shared/printable.ts'
import type { Io } from './io.ts'
import { createActions } from './commands/actions.ts'
import type { Surroundings } from './commands/actions.ts'
import { runCommandLine } from './cli.ts'
import { isAppError } from '../base/errors.ts'

const exitCodes = { done: 0, failed: 1, usage: 2 } as const

/** Runs the command line (without program names) and returns the exit code. Never rejects. */
export async function runProgram(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  const { io } = surroundings
  const version = await readVersion()
  try {
    return await runCommandLine(args, {
      actions: createActions(surroundings, version),
      version,
      output: {
        stdout: (text) => io.stdout(withoutLastLineEnd(text)),
        stderr: (text) => io.stderr(withoutLastLineEnd(text)),
      },
    })
  } catch (error) {
    if (io.signal.aborted && isAbort(error)) return exitCodes.done
    return reportFailure(error, io)
  }
}

/** One line with the stack and causes of an error that is not a failure of the closed list. */
export function formatUnexpected(error: unknown): string {
  return inOneLine(`unexpected error: ${inspect(error)}`)
}

function reportFailure(error: unknown, io: Io): number {
  if (!isAppError(error)) {
    io.stderr(`aftercast: ${formatUnexpected(error)}`)
    return exitCodes.failed
  }
  io.stderr(`aftercast: ${inOneLine(error.message)}`)
  return error.code === 'usage' ? exitCodes.usage : exitCodes.failed
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

function withoutLastLineEnd(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text
}

/** The version in package.json, which is in the parent of server/, or of dist/ once it is built. */
async function readVersion(): Promise<string> {
  for (const candidate of ['../../package.json', '../../../package.json']) {
    const text = await readFile(new URL(candidate, import.meta.url), 'utf8').catch(() => undefined)
    const found = text === undefined ? null : /"version":\s*"(?<version>[^"]+)"/.exec(text)
    if (found?.groups?.version !== undefined) return found.groups.version
  }
  return 'unknown'
}
