// The sections of the operator's page that consist of figures. Pure.
import { formatAge, formatBytes, formatCount } from './format.ts'
import { unknown } from './lists.ts'
import { markup } from './markup.ts'
import type { Markup } from './markup.ts'
import type { CacheState, Disk, LibraryState, NodeState, Part } from './operator-state.ts'

export function librarySection(library: Part<LibraryState>): Markup {
  if (library.status === 'unknown') return section('Library', unknown())
  const { isWalked, streamers, sessions, unindexed, queue } = library.value
  const waiting =
    queue.recordings === 0
      ? '0'
      : `${formatCount(queue.recordings)}, for ${formatAge(queue.ageMs / 1000)}`
  return section(
    'Library',
    figuresTable('State of the library', [
      ['First walk', isWalked ? 'complete' : 'running'],
      ['Streamers', formatCount(streamers)],
      ['Sessions', formatCount(sessions)],
      ['Sessions without an index', formatCount(unindexed)],
      ['Recordings in the index queue', waiting],
    ]),
  )
}

export function nodeSection(node: NodeState): Markup {
  const rows = node.jobs.map(
    ({ queue, waiting, active, oldestSeconds }) =>
      markup`<tr>
        <th scope="row">${queue}</th>
        <td class="number">${formatCount(waiting)}</td>
        <td class="number">${formatCount(active)}</td>
        <td class="number">${formatAge(oldestSeconds)}</td>
      </tr>`,
  )
  const jobs = markup`<table>
    <caption>
      Job queues of all nodes
    </caption>
    <thead>
      <tr>
        <th scope="col">Queue</th>
        <th scope="col" class="number">Waiting</th>
        <th scope="col" class="number">Active</th>
        <th scope="col" class="number">Oldest</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`
  return section(
    'Cluster',
    markup`${figuresTable('State of this node', [
      ['Database', node.isDatabaseUp ? 'reachable' : 'not reachable'],
      ['Role', node.isScanning ? 'scans' : 'follows'],
      ['Generations not applied', formatCount(node.lagGenerations)],
      ['Last known to have all changes', `${formatAge(node.lagMs / 1000)} ago`],
      ['Recordings not published', formatCount(node.outbox)],
    ])}
    ${rows.length === 0 ? undefined : jobs}`,
  )
}

export function disksSection(disks: readonly Disk[]): Markup {
  return section(
    'Disks',
    figuresTable(
      'Free space',
      disks.map(({ contents, space }) => [contents, spaceText(space)] as const),
    ),
  )
}

function spaceText(space: Disk['space']): string {
  if (space.status === 'object-store') return 'an object store'
  if (space.status === 'unknown') return 'unknown'
  const { freeBytes, totalBytes } = space.value
  const share = totalBytes === 0 ? 0 : Math.floor((100 * freeBytes) / totalBytes)
  return `${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} (${share} %)`
}

export function cachesSection(caches: Part<CacheState>): Markup {
  if (caches.status === 'unknown') return section('Caches', unknown())
  const { value } = caches
  const rows = [
    ['Segments cached', value.segmentBytes, formatBytes],
    ['Segments from the cache', hitText(value.segmentHits, value.segmentMisses), String],
    ['Shared artifacts found', hitText(value.artifactHits, value.artifactMisses), String],
    ['Open recordings', value.openRecordings, formatCount],
    ['Requests refused by limits', value.refused, formatCount],
  ] as const
  const known = rows.flatMap(([name, figure, format]) =>
    figure === undefined ? [] : [[name, formatWith(format, figure)] as const],
  )
  if (known.length === 0)
    return section('Caches', markup`<p class="quiet">This node serves nobody.</p>`)
  return section('Caches', figuresTable('All processes, since their start', known))
}

function formatWith(format: (figure: number) => string, figure: number | string): string {
  return typeof figure === 'string' ? figure : format(figure)
}

function hitText(hits: number | undefined, misses: number | undefined): string | undefined {
  if (hits === undefined || misses === undefined) return undefined
  const total = hits + misses
  if (total === 0) return 'none requested'
  return `${Math.floor((100 * hits) / total)} % of ${formatCount(total)}`
}

function figuresTable(
  caption: string,
  rows: readonly (readonly [name: string, value: string])[],
): Markup {
  const body = rows.map(
    ([name, value]) =>
      markup`<tr>
        <th scope="row">${name}</th>
        <td class="number">${value}</td>
      </tr>`,
  )
  return markup`<table class="figures">
    <caption>
      ${caption}
    </caption>
    <thead>
      <tr>
        <th scope="col">Figure</th>
        <th scope="col" class="number">Value</th>
      </tr>
    </thead>
    <tbody>
      ${body}
    </tbody>
  </table>`
}

function section(title: string, content: Markup): Markup {
  const id = title.toLowerCase()
  return markup`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${content}
  </section>`
}
