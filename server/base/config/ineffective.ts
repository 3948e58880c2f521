// Settings that were made and have no effect, because another one is missing. Pure.

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
