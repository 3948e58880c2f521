// What the machine is, how busy it is, and what a process has used of it. Reads /proc: Linux only.
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'

/** Linux counts processor time in these (USER_HZ), whatever the kernel's own tick. */
const TICKS_PER_SECOND = 100

/** The header lines of a table, so that figures can be compared later. */
export function describeMachine(): string[] {
  const memory = (totalmem() / 2 ** 30).toFixed(0)
  const versions = ['nginx', 'wrk', 'openssl'].filter(hasProgram).map(readVersion)
  const model = cpus()[0]?.model ?? 'unknown processor'
  return [
    `${new Date().toISOString().slice(0, 16)}Z, ${availableParallelism()} × ${model}`,
    [`${memory} GiB`, `Linux ${release()}`, `Node ${process.versions.node}`, ...versions].join(
      ', ',
    ),
  ]
}

function readVersion(program: string): string {
  const { stdout, stderr } = spawnSync(program, [program === 'openssl' ? 'version' : '-v'])
  const [line = ''] = `${String(stdout ?? '')}${String(stderr ?? '')}`.split('\n')
  return line.replace(/^nginx version: /, '').replace(/ \[.*/, '')
}

/** Load of the last minute. */
export function readLoad(): number {
  return loadavg()[0] ?? 0
}

/** Whether a program can be run. */
export function hasProgram(program: string): boolean {
  return spawnSync('which', [program]).status === 0
}

/** Seconds that a process and its children have computed so far, all threads, user and system. */
export function readProcessSeconds(pid: number): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  )
  const { own } = readTimes(pid)
  return children.reduce((sum, child) => sum + readProcessSeconds(Number(child)), own)
}

/** Seconds of a process, and of its children that have ended. */
function readTimes(pid: number): { own: number; ended: number } {
  // proc(5): the name in parentheses may hold spaces; utime and stime are fields 14 and 15.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const seconds = (at: number) => (Number(fields[at]) + Number(fields[at + 1])) / TICKS_PER_SECOND
  return { own: seconds(11), ended: seconds(13) }
}

/** Most memory that a process has held, in MiB. */
export function readPeakMebibytes(pid: number): number {
  return readStatusMebibytes(pid, 'VmHWM')
}

/** Resident memory of a process, in MiB. */
export function readMebibytes(pid: number): number {
  return readStatusMebibytes(pid, 'VmRSS')
}

function readStatusMebibytes(pid: number, name: 'VmHWM' | 'VmRSS'): number {
  const line = new RegExp(`^${name}:\\s+(?<size>\\d+)`, 'm')
  const kilobytes = line.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(kilobytes?.groups?.size ?? 0) / 1024
}

/**
 * Seconds that all processors together have worked, or were taken by other machines on the same
 * host.
 */
export function readBusySeconds(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND
}

/**
 * Starts to measure. The returned function returns the share of processor time that neither this
 * process nor its children used.
 */
export function watchOthers(): () => number {
  const readClocks = () => ({
    own: readProcessSeconds(process.pid) + readTimes(process.pid).ended,
    busy: readBusySeconds(),
    wallMs: performance.now(),
  })
  const before = readClocks()
  return () => {
    const after = readClocks()
    const others = after.busy - before.busy - (after.own - before.own)
    const wall = (after.wallMs - before.wallMs) / 1000
    return Math.max(0, others) / (wall * availableParallelism())
  }
}
