// Checks how keys fit each other: which have no effect because another one is missing, and which of
// advertising contradict each other. Pure.
import type { z } from 'zod'
import type { configSchema } from './schema.ts'

/** What the effect of others depends on. */
interface Settings {
  recordings?: string | undefined
  artifacts?: string | undefined
  database?: string | undefined
  server: { metrics?: string | undefined }
  ads: { provider: string }
}

/** @param given keys that were set */
export function findIneffective(config: Settings, given: ReadonlySet<string>): string[] {
  return RULES.flatMap(({ keys, isIdle, needs }) => {
    if (!isIdle(config)) return []
    const idle = keys.filter((key) => given.has(key))
    return idle.map((key) => `${key}: has no effect without ${needs}`)
  })
}

interface Rule {
  keys: readonly string[]
  isIdle: (config: Settings) => boolean
  needs: string
}

const RULES: readonly Rule[] = [
  {
    keys: ['ads.scriptHost', 'ads.hosts', 'ads.vastUrl', 'ads.insClass'],
    isIdle: ({ ads }) => ads.provider !== 'network',
    needs: 'ads.provider: network',
  },
  {
    keys: ['ads.zones.banner', 'ads.zones.inline', 'ads.zones.video', 'ads.fill'],
    isIdle: ({ ads }) => ads.provider === 'none',
    needs: 'ads.provider',
  },
  {
    keys: ['server.operatorToken'],
    isIdle: ({ server }) => server.metrics === undefined,
    needs: 'server.metrics, the listener of /operator',
  },
  { keys: ['cluster.jobs'], isIdle: ({ database }) => database === undefined, needs: 'database' },
  {
    keys: ['s3.pathStyle'],
    isIdle: ({ recordings, artifacts }) =>
      ![recordings, artifacts].some((location) => location?.startsWith('s3://')),
    needs: 'recordings or artifacts in s3://bucket/prefix',
  },
]

/** A problem with one key. */
export interface Problem {
  key: string
  message: string
}

type AdValues = z.output<typeof configSchema>['ads']

/** Every key of `ads` that does not fit the others. */
export function findAdProblems(ads: AdValues): Problem[] {
  return [...findOpenHosts(ads), ...findMissing(ads)]
}

/** A script over plain http could be anyone's; inside a private network the operator decides. */
function findOpenHosts({ hosts }: AdValues): Problem[] {
  return Object.entries(hosts).flatMap(([name, host]) =>
    typeof host === 'string' || host.allowPrivate || host.url.startsWith('https:')
      ? []
      : [{ key: `ads.hosts.${name}`, message: 'must be https, unless allowPrivate is true' }],
  )
}

function findMissing({ provider, scriptHost, hosts, vastUrl, insClass }: AdValues): Problem[] {
  const problems: Problem[] = []
  if (scriptHost !== undefined && !Object.hasOwn(hosts, scriptHost)) {
    problems.push({ key: 'ads.scriptHost', message: 'must be a key of ads.hosts' })
  }
  if (provider !== 'network') return problems
  if (vastUrl === undefined) {
    problems.push({ key: 'ads.vastUrl', message: 'is required if ads.provider is network' })
  }
  if (insClass === undefined) {
    problems.push({ key: 'ads.insClass', message: 'is required if ads.provider is network' })
  }
  return problems
}
