// Makes writes of a server fail as on a full or a broken disk: a library that is preloaded into it,
// compiled from failing-writes.c.
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import { constants } from 'node:os'
import { findProgram } from '../../../scripts/programs.mjs'

const SOURCE = path.resolve(import.meta.dirname, 'failing-writes.c')
/** Layout of the control file: error number, number of failures, part of the paths that fail. */
const PATH_OFFSET = 8
const CONTROL_BYTES = PATH_OFFSET + 4096

export interface FailingWrites {
  /** Of the server. */
  environment: NodeJS.ProcessEnv
  /** From now on, changes of all paths that contain `part` fail. */
  fail(code: 'ENOSPC' | 'EIO', part: string): void
  /** Ends the failures; returns how many there were. */
  heal(): number
  /** Failures since the last `fail`. */
  failures(): number
  close(): void
}

/** Compiles into the folder. Throws if there is no C compiler. */
export function createFailingWrites(folder: string): FailingWrites {
  const library = path.join(folder, 'failing-writes.so')
  compile(library)
  const controlPath = path.join(folder, 'failing-writes')
  writeFileSync(controlPath, Buffer.alloc(CONTROL_BYTES))
  const control = openSync(controlPath, 'r+')
  const setPath = (part: string): void => {
    const bytes = Buffer.alloc(CONTROL_BYTES - PATH_OFFSET)
    bytes.write(part)
    writeSync(control, bytes, 0, bytes.length, PATH_OFFSET)
  }
  const failures = (): number => {
    const bytes = Buffer.alloc(PATH_OFFSET)
    readSync(control, bytes, 0, bytes.length, 0)
    return bytes.readInt32LE(4)
  }
  return {
    environment: { LD_PRELOAD: library, FAILING_WRITES: controlPath },
    fail(code, part) {
      const head = Buffer.alloc(PATH_OFFSET)
      head.writeInt32LE(constants.errno[code])
      writeSync(control, head, 0, head.length, 0)
      setPath(part)
    },
    heal() {
      setPath('')
      return failures()
    },
    failures,
    close: () => closeSync(control),
  }
}

function compile(library: string): void {
  const compiler = findProgram('a C compiler')
  if (compiler === undefined) throw new Error('there is no C compiler: apt-get install tcc')
  const flags = ['-shared', '-fPIC', '-nostdlib', '-w', '-o', library, SOURCE]
  const { status, stderr } = spawnSync(compiler, flags)
  if (status !== 0) throw new Error(`${compiler} failed: ${String(stderr)}`)
}
