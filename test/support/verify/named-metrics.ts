// Which metrics a scrape has, and which ones dashboards and alert rules name.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { parse } from 'yaml'

const deploy = path.resolve(import.meta.dirname, '../../../docs/deploy')
export const DASHBOARDS = ['grafana-dashboard.json', 'grafana-cluster.json']
export const ALERTS = path.join(deploy, 'alerts.yml')

/** Metrics that only a node of a cluster has. */
export const CLUSTER_METRICS = [
  'aftercast_database_up',
  'aftercast_jobs_active',
  'aftercast_jobs_oldest_seconds',
  'aftercast_jobs_waiting',
  'aftercast_replication_lag_seconds',
  'aftercast_scanning',
]

/** Names of all samples of a scrape; of a histogram also before its first observation. */
export function metricsIn(scrape: string): Set<string> {
  const names = new Set<string>()
  for (const [, name = '', type] of scrape.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    for (const suffix of suffixes) names.add(name + suffix)
  }
  return names
}

/** Names of metrics in an expression of Prometheus. `up` is of Prometheus itself. */
export function metricsNamedBy(expression: string): string[] {
  const found = expression.matchAll(/\b(?:aftercast|nodejs|process)_\w+/g)
  return [...new Set([...found].map(([name]) => name))].toSorted()
}

const dashboard = z.object({
  panels: z.array(
    z.object({
      title: z.string(),
      targets: z.array(z.object({ expr: z.string() })).default([]),
    }),
  ),
})

/** The expressions of a dashboard, with values in place of Grafana's variables. */
export function dashboardExpressions(name: string): string[] {
  const { panels } = dashboard.parse(JSON.parse(readFileSync(path.join(deploy, name), 'utf8')))
  return panels.flatMap(({ targets }) =>
    targets.map(({ expr }) =>
      expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', 'a'),
    ),
  )
}

const rules = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
})

/** The alert rules: name and expression. */
export function alertRules(): { alert: string; expr: string }[] {
  const { groups } = rules.parse(parse(readFileSync(ALERTS, 'utf8')))
  return groups.flatMap((group) => group.rules)
}
