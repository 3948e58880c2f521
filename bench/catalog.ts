// `npm run bench -- catalog`: the lists of ten thousand streamers and a million sessions, and how
// soon a change shows.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { streamersApiPath } from '../shared/paths.ts'
import type { StartedServer } from '../test/support/servers/start-server.ts'
import type { Bench } from './harness.ts'
import { ENCODINGS, measureChanges, planLists } from './lists.ts'
import { readPeakMebibytes } from './machine.ts'
import { formatRows, measureRows } from './measure.ts'
import type { Row } from './measure.ts'
import type { ReadyResponsesOrder } from './ready-responses-child.ts'
import { formatTable } from './table.ts'
import { ensureMillion } from './tree.ts'
import type { MillionSessions } from './tree.ts'

const COMPETITOR = path.resolve(import.meta.dirname, 'ready-responses-child.ts')

export async function benchCatalog(bench: Bench): Promise<string[]> {
  const library = await ensureMillion(bench)
  const server = await bench.startNode(library)
  const measured = await measureRows(await prepareRows(bench, library, server), bench)
  const changes = await measureChanges(bench, library, [{ name: 'the server', server }])
  const peak = readPeakMebibytes(server.pid).toFixed(0)
  return [
    ...formatRows(measured),
    '',
    ...formatTable(...changes),
    `The server held ${peak} MiB at most.`,
  ]
}

/** Each of our rows is followed by the competitor's. */
async function prepareRows(
  bench: Bench,
  library: MillionSessions,
  { url: origin, pid }: StartedServer,
): Promise<Row[]> {
  const plans = planLists(bench, library.size)
  const paths = [...new Set(plans.flatMap((plan) => plan.paths))]
  const competitor = await startCompetitor(bench, { origin, paths, encodings: ENCODINGS })
  const etag = (await fetch(origin + streamersApiPath)).headers.get('etag') ?? ''
  const conditional = { 'accept-encoding': 'identity', 'if-none-match': etag }
  return [
    ...plans,
    { name: 'streamers, 304', paths: [streamersApiPath], headers: conditional },
  ].flatMap(({ name, paths: own, headers }) => {
    const row = { paths: () => own, headers }
    const beside = `ready bytes ${name}`
    return [
      { ...row, name: `ours ${name}`, pid, origin, beside: [beside] },
      { ...row, ...competitor, name: beside },
    ]
  })
}

async function startCompetitor(
  bench: Bench,
  order: ReadyResponsesOrder,
): Promise<{ pid: number; origin: string }> {
  const [command, ...words] = [...bench.pin(0), process.execPath]
  const child = fork(COMPETITOR, { execPath: command, execArgv: words })
  bench.defer(() => child.kill())
  child.send(order)
  const [origin]: unknown[] = await once(child, 'message')
  return { pid: child.pid ?? NaN, origin: String(origin) }
}
