// Joins the cluster of the configuration: without one, none of its modules is loaded.
import type { Cluster, ClusterOptions } from './cluster.ts'

/** Undefined without `database`. @throws as `openCluster` */
export async function joinCluster(
  options: Omit<ClusterOptions, 'url'>,
): Promise<Cluster | undefined> {
  const { database: url } = options.config
  if (url === undefined) return undefined
  const { openCluster } = await import('./cluster.ts')
  return openCluster({ ...options, url })
}
