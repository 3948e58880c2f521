// Runs a command of the program and collects what it writes: in this process, or in a process of
// its own.
import { execFile } from 'node:child_process'
import path from 'node:path'
import type { Io } from '../../../server/app/io.ts'
import { openLineOutput } from '../../../server/base/log/line-output.ts'
import { runProgram } from '../../../server/app/program.ts'
import { patienceMs } from '../patience.ts'

export interface ProgramOptions {
  workingFolder: string
  environment?: NodeJS.ProcessEnv
  /** Default none. Only in this process. */
  serviceFolder?: string
}

export interface ProgramOutcome {
  code: unknown
  stdout: string
  stderr: string
}

/** Path of the program's entry. */
export const PROGRAM = path.resolve(import.meta.dirname, '../../../server/main.ts')

/** In this process: everything but the process itself (signals, workers, its exit code). */
export async function runInProcess(
  args: readonly string[],
  { workingFolder, environment = {}, serviceFolder = '/nowhere' }: ProgramOptions,
): Promise<ProgramOutcome> {
  const { io, written } = captureIo()
  const code = await runProgram(args, { io, environment, workingFolder, serviceFolder })
  return { code, ...written }
}

/** Of this process, with what is written to it. */
export function captureIo(): { io: Io; written: { stdout: string; stderr: string } } {
  const written = { stdout: '', stderr: '' }
  const io = {
    stdout: (line: string) => void (written.stdout += `${line}\n`),
    announce: (line: string) => void (written.stdout += `${line}\n`),
    stderr: (line: string) => void (written.stderr += `${line}\n`),
    log: openLineOutput(process.stderr.fd),
    terminal: undefined,
    processId: process.pid,
    nodeVersion: process.version,
    signal: new AbortController().signal,
  }
  return { io, written }
}

/** In a separate process with an empty environment. */
export async function runInNewProcess(
  args: readonly string[],
  { workingFolder, environment = {} }: ProgramOptions,
): Promise<ProgramOutcome> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const options = {
    cwd: workingFolder,
    env: { PATH, NODE_COMPILE_CACHE, ...environment },
    timeout: patienceMs,
  }
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code ?? error.signal), stdout, stderr })
    })
  })
}
