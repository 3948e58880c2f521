// How far a catalog has followed a shared database.

export interface ReplicaPosition {
  /** Of the shared database: another one after it was created again. */
  identity: string
  /** Of its server: another one after a restart or failover, which may lose the last changes. */
  epoch: string
  /** Everything up to this generation is applied; 0 before the first snapshot. */
  generation: number
}

export function isAt(
  position: ReplicaPosition | undefined,
  expected: ReplicaPosition | undefined,
): boolean {
  return (
    position?.identity === expected?.identity &&
    position?.epoch === expected?.epoch &&
    position?.generation === expected?.generation
  )
}

/** What a replica's catalog stores about itself. */
export interface ReplicaState extends ReplicaPosition {
  /** Random; identifies this catalog among the nodes. */
  node: string
}
