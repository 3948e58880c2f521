// The interface of the scenes of `npm run bench -- kills`.
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import type { BenchOptions } from '../options.ts'

/** What one scene does between two kills. */
export interface KillScene {
  args: string[]
  /** Latest moment of a kill; the others are spread evenly before it. */
  killWithinMs: number
  /** From what the moment counts. Default `ready`. */
  killAfter?: 'start' | 'ready'
  /** Before each start that ends with a kill. */
  prepare?(): Promise<void>
  /**
   * Works with the server until the signal aborts, when it is killed; may reject then. Later, its
   * port may be that of another program.
   */
  use(server: StartedServer, signal: AbortSignal): Promise<void>
  /** What is wrong after a start; an empty list if nothing is. */
  check(server: StartedServer): Promise<string[]>
  close?(): Promise<void>
}

/** Opens a scene in an empty folder. */
export type OpenScene = (folder: string, options: BenchOptions) => Promise<KillScene>
