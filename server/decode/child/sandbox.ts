// Finds out once which restrictions this machine allows for child processes, and logs those that
// are missing.
import { execFile } from 'node:child_process'
import type { ExecFileException } from 'node:child_process'
import { readFile, readlink, realpath } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import path from 'node:path'
import { AppError } from '../../base/errors.ts'
import { composeTools } from './sandbox-command.ts'
import type { ChildLimits, Confinement, SandboxPart } from './sandbox-command.ts'

export interface Sandbox {
  /**
   * The restrictions for every child of this process. Rejects with AppError `busy` while the system
   * has no process or descriptor to find out.
   */
  detect(): Promise<Confinement>
}

/** The methods of a logger that decoders use. */
export interface DecoderLog {
  debug(details: object, message: string): void
  warn(details: object, message: string): void
}

export interface SandboxOptions {
  log?: DecoderLog | undefined
  /** PATH for finding the tools; the system's default if absent. */
  searchPath?: string | undefined
}

/** This process, as far as its children depend on it. */
interface Host {
  nodePath: string
  isRoot: boolean
}

const UNKNOWN_HOST: Host = { nodePath: 'node', isRoot: false }
/** In the order in which they are tried, each with those before it that succeeded. */
const PARTS: readonly SandboxPart[] = ['limits', 'privileges', 'user', 'files', 'network']
const PROBE_TIMEOUT_MS = 30_000
const PROBE_LIMITS: ChildLimits = { memoryBytes: 2 ** 29, cpuSeconds: 300 }

/** Detects on first use, and logs at most one line. */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  let detected: Promise<Confinement> | undefined
  return {
    detect() {
      detected ??= detectConfinement(options).catch((error: unknown) => {
        detected = undefined
        throw error
      })
      return detected
    },
  }
}

async function detectConfinement({ log, searchPath }: SandboxOptions): Promise<Confinement> {
  const readable = await findPackageFolders()
  const host = await readHost()
  const parts = new Set<SandboxPart>()
  const missing: Partial<Record<SandboxPart, string>> = {}
  for (const part of PARTS) {
    if (part === 'user' && host?.isRoot === false) continue
    const candidate = new Set([...parts, part])
    const problem =
      host === undefined
        ? 'not available on this system'
        : await findProblem({ ...host, parts: candidate, readable, searchPath })
    if (problem === undefined) parts.add(part)
    else missing[part] = problem
  }
  logMissing(missing, log)
  return { ...(host ?? UNKNOWN_HOST), parts, readable, searchPath }
}

function logMissing(
  missing: Partial<Record<SandboxPart, string>>,
  log: DecoderLog | undefined,
): void {
  const parts = Object.keys(missing)
  if (parts.length === 0) return
  const message = `the sandbox of decoders lacks ${parts.join(', ')}; see docs/security.md`
  // Node and the limit on the size of files remain, and only a newer util-linux has it.
  if (parts.join(' ') === 'files') log?.debug({ missing }, message)
  else log?.warn({ missing }, message)
}

/**
 * Runs a small command in place of the child. Returns why it failed: the tool's message, or that
 * the program is not readable for the child's user.
 */
async function findProblem(confinement: Confinement): Promise<string | undefined> {
  const { nodePath, readable, searchPath } = confinement
  const canStart = ['-x', nodePath, ...readable.flatMap((folder) => ['-a', '-x', folder])]
  const command = [...composeTools(confinement, PROBE_LIMITS), 'test', ...canStart]
  const { error, stderr } = await run(command, environmentOf(searchPath)).catch(throwBusy)
  if (error === null) return undefined
  if (error.code === 'ENOENT' || error.code === 'EACCES') return `${command[0]} not found`
  if (typeof error.code === 'string') throwBusy(error)
  if (typeof error.signal === 'string') return `ended with ${error.signal}`
  const [line] = stderr.split('\n')
  return line || `no access to ${[nodePath, ...readable].join(' or ')}`
}

/** Rejects with errors of the system that `execFile` throws instead of passing them on. */
function run(
  [tool = '', ...args]: readonly string[],
  env: Record<string, string>,
): Promise<{ error: ExecFileException | null; stderr: string }> {
  return new Promise((resolve) => {
    execFile(tool, args, { env, timeout: PROBE_TIMEOUT_MS }, (error, _stdout, stderr) =>
      resolve({ error, stderr }),
    )
  })
}

/** A moment without processes or descriptors must not cost the sandbox. */
function throwBusy(cause: unknown): never {
  throw new AppError('busy', 'The sandbox could not be tested; try again soon', { cause })
}

/** A complete environment that has only PATH, if any. */
export function environmentOf(searchPath: string | undefined): Record<string, string> {
  return searchPath === undefined ? {} : { PATH: searchPath }
}

/** Undefined without a /proc, which only Linux has. */
async function readHost(): Promise<Host | undefined> {
  try {
    const status = await readFile('/proc/self/status', 'latin1')
    // Real, effective, saved and file system uid (proc_pid_status(5)).
    const isRoot = /^Uid:\s+\d+\s+0\s/m.test(status)
    return { nodePath: await readlink('/proc/self/exe'), isRoot }
  } catch {
    return undefined
  }
}

/**
 * The program's own package, and the `node_modules` folder from which it loads node-av, each also
 * under its real path: Node checks links and their targets.
 */
async function findPackageFolders(): Promise<string[]> {
  const folders = ['.', 'node-av']
    .map((name) => findPackageJSON(name, import.meta.url))
    .filter((file) => file !== undefined)
    .map((file) => path.dirname(file))
  const real = await Promise.all(folders.map((folder) => realpath(folder)))
  return [...new Set([...folders, ...real].map(outermostModules))]
}

/** The first `node_modules` folder on the path: packages in it may link to each other. */
function outermostModules(folder: string): string {
  const name = `${path.sep}node_modules${path.sep}`
  const start = folder.indexOf(name)
  return start === -1 ? folder : folder.slice(0, start + name.length - 1)
}
