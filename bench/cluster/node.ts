// A node of a benchmark's cluster.
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { startServer } from '../../test/support/servers/start-server.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'

export interface NodePlan {
  /** Of its data folder in `scratch`. */
  name: string
  scratch: string
  recordings: string
  /** Default none: a server without a cluster. */
  database?: string
  /** Default `serve`. */
  command?: 'serve' | 'work'
  environment?: NodeJS.ProcessEnv
  wrapper?: string[]
  /** Folder of another release, with its dependencies. Default this one. */
  checkout?: string
}

/** A snapshot of a million recordings may be necessary. */
const READY_WITHIN_MS = 300_000

/** Starts it with one process. */
export async function startNode(plan: NodePlan): Promise<StartedServer> {
  const {
    name,
    scratch,
    recordings,
    database,
    command = 'serve',
    environment,
    wrapper,
    checkout,
  } = plan
  const data = path.join(scratch, name)
  mkdirSync(data, { recursive: true })
  return startServer({
    command,
    args: [recordings, '--data', data],
    readyWithinMs: READY_WITHIN_MS,
    environment: {
      AFTERCAST_WORKERS: '1',
      ...(database !== undefined && { AFTERCAST_DATABASE_URL: database }),
      ...environment,
    },
    ...(wrapper !== undefined && { wrapper }),
    ...(checkout !== undefined && { checkout }),
  })
}
