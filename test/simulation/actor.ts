// Whose code runs in a simulation: a process of a node, or the simulation itself.

export interface Actor {
  readonly name: string
  /** Nothing of a dead one runs again. */
  isAlive: boolean
  /** Difference of its wall clock. */
  skewMs: number
  /** A paused process continues then, with everything that was due meanwhile. */
  pausedUntilMs: number
}
