// Time that this process works, which other work of the machine does not lengthen.

/** Answers a function that tells the milliseconds that the process has worked since. */
export function watchCpu(): () => number {
  const started = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(started)
    return (user + system) / 1000
  }
}
