// Processor time, which other work of the machine does not lengthen.

/** Returns a function that returns the milliseconds of processor time that this process has used since. */
export function watchCpu(): () => number {
  const started = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(started)
    return (user + system) / 1000
  }
}
