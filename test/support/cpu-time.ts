// Processor time, which other work of the machine does not lengthen.

/** Starts a clock; the returned function returns the milliseconds of processor time used since. */
export function watchCpu(): () => number {
  const started = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(started)
    return (user + system) / 1000
  }
}
