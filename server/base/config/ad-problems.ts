// Checks that the advertising keys fit each other; each problem names its key.
import type { z } from 'zod'
import type { configSchema } from './schema.ts'

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
