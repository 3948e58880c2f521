// The sections of the operator's page that consist of figures. Pure.
import { formatAge, formatBytes, formatCount } from './format.ts'
import { markup } from './markup.ts'
import type { Markup } from './markup.ts'
import type { CacheState, Disk, LibraryState, NodeState, Part } from './operator-state.ts'
import { partSection, quiet, section, table } from './sections.ts'

type Figure = readonly [name: string, value: string]

export function librarySection(library: Part<LibraryState>): Markup {
  const heading = { id: 'library', title: 'Library' }
  return partSection(heading, library, (state) => {
    const { isWalked, streamers, sessions, unindexed, queue, advice } = state
    const waiting =
      queue.recordings === 0
        ? '0'
        : `${formatCount(queue.recordings)}, for ${formatAge(queue.ageMs / 1000)}`
    const figures = figuresTable('State of the library', [
      ['First walk', isWalked ? 'complete' : 'running'],
      ['Streamers', formatCount(streamers)],
      ['Sessions', formatCount(sessions)],
      ['Sessions without an index', formatCount(unindexed)],
      ['Recordings in the index queue', waiting],
    ])
    return advice === undefined ? figures : markup`<p class="message">${advice}</p> ${figures}`
  })
}

export function nodeSection(node: NodeState): Markup {
  const figures = figuresTable('State of this node', [
    ['Database', node.isDatabaseUp ? 'reachable' : 'not reachable'],
    ['Role', node.isScanning ? 'scans' : 'follows'],
    ['Generations not applied', formatCount(node.lagGenerations)],
    ['Last known to have all changes', `${formatAge(node.lagMs / 1000)} ago`],
    ['Recordings not published', formatCount(node.outbox)],
  ])
  return section({ id: 'cluster', title: 'Cluster' }, markup`${figures} ${jobsTable(node.jobs)}`)
}

function jobsTable(jobs: NodeState['jobs']): Markup | undefined {
  if (jobs.length === 0) return undefined
  return table({
    caption: 'Job queues of all nodes',
    columns: [
      { title: 'Queue' },
      { title: 'Waiting', kind: 'number' },
      { title: 'Active', kind: 'number' },
      { title: 'Oldest', kind: 'number' },
    ],
    rows: jobs.map(({ queue, waiting, active, oldestSeconds }) => [
      queue,
      formatCount(waiting),
      formatCount(active),
      formatAge(oldestSeconds),
    ]),
  })
}

export function disksSection(disks: readonly Disk[]): Markup {
  const figures = disks.map(({ contents, space }): Figure => [contents, spaceText(space)])
  return section({ id: 'disks', title: 'Disks' }, figuresTable('Free space', figures))
}

function spaceText(space: Disk['space']): string {
  if (space.status === 'object-store') return 'an object store'
  if (space.status === 'unknown') return 'unknown'
  const { freeBytes, totalBytes } = space.value
  const share = totalBytes === 0 ? 0 : Math.floor((100 * freeBytes) / totalBytes)
  return `${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} (${share}\u00a0%)`
}

export function cachesSection(caches: Part<CacheState>): Markup {
  return partSection({ id: 'caches', title: 'Caches' }, caches, (state) => {
    const figures = cacheFigures(state)
    if (figures.length === 0) return quiet('This node serves nobody.')
    return figuresTable('All processes, since their start', figures)
  })
}

/** Only what is known: a node that serves nobody has no caches. */
function cacheFigures(state: CacheState): Figure[] {
  const figures = [
    ['Segments cached', formatKnown(formatBytes, state.segmentBytes)],
    ['Segments from the cache', hitText(state.segmentHits, state.segmentMisses)],
    ['Shared artifacts found', hitText(state.artifactHits, state.artifactMisses)],
    ['Open recordings', formatKnown(formatCount, state.openRecordings)],
    ['Requests refused by limits', formatKnown(formatCount, state.refused)],
    ['Video encodes that run', formatKnown(formatCount, state.encodes?.running)],
    ['Video encodes that wait', formatKnown(formatCount, state.encodes?.waiting)],
    ['Video encodes finished', formatKnown(formatCount, state.encodes?.finished)],
    ['Processor time of video encodes', formatKnown(formatAge, state.encodes?.cpuSeconds)],
  ] as const
  return figures.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
}

function formatKnown(
  format: (figure: number) => string,
  figure: number | undefined,
): string | undefined {
  return figure === undefined ? undefined : format(figure)
}

function hitText(hits: number | undefined, misses: number | undefined): string | undefined {
  if (hits === undefined || misses === undefined) return undefined
  const total = hits + misses
  if (total === 0) return 'none requested'
  return `${Math.floor((100 * hits) / total)}\u00a0% of ${formatCount(total)}`
}

function figuresTable(caption: string, rows: readonly Figure[]): Markup {
  const columns = [{ title: 'Figure' }, { title: 'Value', kind: 'number' }] as const
  return table({ caption, columns, rows })
}
