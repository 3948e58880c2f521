// Composes the command line of a confined child process: tools of util-linux that each set some
// restrictions and then execute the next command, with Node at the end.

/**
 * What a tool of util-linux adds to the restrictions of Node.
 *
 * - `limits`: memory, processor time, descriptors, size of files (prlimit)
 * - `network`: no network but an unconfigured loopback interface (unshare)
 * - `privileges`: none, and none to gain (setpriv)
 * - `user`: an unprivileged one, where the server runs as root (setpriv)
 * - `files`: nothing can be created, opened for writing or removed, also by native code (setpriv
 *   of util-linux 2.40 with Landlock)
 */
export type SandboxPart = 'limits' | 'network' | 'privileges' | 'user' | 'files'

export interface Confinement {
  parts: ReadonlySet<SandboxPart>
  /** Whether the server runs as root. */
  isRoot: boolean
  /** Absolute path of Node; not used without parts. */
  nodePath: string
  /** Files and folders that JavaScript in the child may read. */
  readable: readonly string[]
  /** PATH of the child; the system's default if absent. */
  searchPath?: string | undefined
}

/** Limits that the kernel enforces for the lifetime of a child. */
export interface ChildLimits {
  /** What it may allocate beyond Node's reservations. */
  memoryBytes: number
  cpuSeconds: number
}

/** Options of `fork` for a confined child. */
export interface ForkCommand {
  /** The running Node if absent. */
  execPath?: string
  execArgv: string[]
}

/** Node opens about 25 descriptors. */
const MAX_DESCRIPTORS = 64
const MAX_HEAP_MIB = 192
/** Node reserves 630 MB of writable address space when it starts, most of it for code. */
const RESERVED_BY_NODE_BYTES = 2 ** 30
/** `nobody` on Linux, also the overflow uid of user namespaces. */
const UNPRIVILEGED_ID = 65_534
/** Landlock's rights to change a file system (landlock(7)); `refer` is denied in any case. */
const FILE_CHANGES =
  'write-file,truncate,remove-dir,remove-file,' +
  'make-char,make-dir,make-reg,make-sock,make-fifo,make-block,make-sym'

/**
 * The command line for a child. Each tool replaces itself with the next command, so the process
 * that `fork` starts is the child.
 */
export function composeFork(confinement: Confinement, limits: ChildLimits): ForkCommand {
  const nodeOptions = [
    `--max-old-space-size=${MAX_HEAP_MIB}`,
    '--permission',
    '--allow-addons',
    ...confinement.readable.map((path) => `--allow-fs-read=${path}`),
  ]
  const [execPath, ...rest] = composeTools(confinement, limits)
  if (execPath === undefined) return { execArgv: nodeOptions }
  return { execPath, execArgv: [...rest, confinement.nodePath, ...nodeOptions] }
}

/** The tools that come before the confined command. */
export function composeTools(
  { parts, isRoot }: Pick<Confinement, 'parts' | 'isRoot'>,
  limits: ChildLimits,
): string[] {
  return [
    ...(parts.has('limits') ? limitsCommand(limits) : []),
    ...(parts.has('network') ? networkCommand(isRoot) : []),
    ...privilegesCommand(parts, isRoot),
  ]
}

function limitsCommand({ memoryBytes, cpuSeconds }: ChildLimits): string[] {
  return [
    'prlimit',
    // Not --as: Node reserves 10 GB of address space that it never uses.
    `--data=${memoryBytes + RESERVED_BY_NODE_BYTES}`,
    `--cpu=${cpuSeconds}`,
    `--nofile=${MAX_DESCRIPTORS}`,
    '--fsize=0',
    '--core=0',
  ]
}

/** Only root may create a network namespace outside of a new user namespace (unshare(1)). */
function networkCommand(isRoot: boolean): string[] {
  return ['unshare', ...(isRoot ? [] : ['--user']), '--net', '--ipc']
}

function privilegesCommand(parts: ReadonlySet<SandboxPart>, isRoot: boolean): string[] {
  const options: string[] = []
  if (parts.has('privileges')) {
    // A child in a loop does not notice that its server was killed.
    options.push('--pdeathsig=KILL', '--no-new-privs', '--inh-caps=-all', '--ambient-caps=-all')
    if (isRoot) options.push('--bounding-set=-all')
  }
  if (parts.has('user') && isRoot) {
    options.push(`--reuid=${UNPRIVILEGED_ID}`, `--regid=${UNPRIVILEGED_ID}`, '--clear-groups')
  }
  if (parts.has('files')) options.push(`--landlock-access=fs:${FILE_CHANGES}`)
  return options.length === 0 ? [] : ['setpriv', ...options]
}
