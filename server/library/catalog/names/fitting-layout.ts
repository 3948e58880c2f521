// Which layout fits recordings that match no session in the configured one. Pure.
import { DEFAULT_LAYOUT } from '../../../base/config/schema.ts'
import { createLayout } from './layout.ts'
import type { Layout, LayoutPosition } from './layout.ts'
import { layoutPresets } from './layout-presets.ts'
import { splitPath } from '../../../storage/recordings/library-path.ts'

const ANY_NAME = '{sessionId}'

/** A recording's path in the library. A folder has a recorder's playlist. */
export interface RecordingPath {
  path: string
  kind: 'file' | 'folder'
}

/** A layout by its name or template, and how many recordings match it. */
export interface FittingLayout {
  layout: string
  matches: number
}

/**
 * The layout, of the default one and the presets, that finds a session in most of the recordings;
 * undefined if none does. Dates in names count more: a layout without dates matches nearly all.
 */
export function findFittingLayout(
  recordings: readonly RecordingPath[],
  libraryName: string,
): FittingLayout | undefined {
  const fits = CANDIDATES.map((name) => {
    const layout = createLayout(name, libraryName)
    const dates = recordings.flatMap((recording) => findDate(layout, recording) ?? [])
    return {
      layout: name,
      matches: dates.length,
      dated: dates.filter((date) => date !== '').length,
    }
  })
  const [best] = fits.toSorted((a, b) => b.dated - a.dated || (b.dated ? 0 : b.matches - a.matches))
  if (best === undefined || best.matches === 0) return undefined
  return { layout: best.layout, matches: best.matches }
}

/** The presets that take any name as a session come last. */
const CANDIDATES = [
  DEFAULT_LAYOUT,
  ...Object.entries(layoutPresets)
    .toSorted(([, a], [, b]) => Number(a.includes(ANY_NAME)) - Number(b.includes(ANY_NAME)))
    .map(([name]) => name),
]

/** The date in the session’s names, '' without one; undefined without a session. */
function findDate(layout: Layout, { path, kind }: RecordingPath): string | undefined {
  const place = splitPath(path)
  if (place === undefined) return undefined
  const { folder, name } = place
  const own = matchAt(layout, folder, { name, kind })
  if (own !== undefined || kind === 'folder') return own
  // It may be a part of a session's folder.
  const parent = splitPath(folder)
  return parent && matchAt(layout, parent.folder, { name: parent.name, kind: 'folder' })
}

function matchAt(
  layout: Layout,
  folder: string,
  entry: { name: string; kind: 'file' | 'folder' },
): string | undefined {
  let position: LayoutPosition | undefined = layout.root
  for (const name of folder === '' ? [] : folder.split('/')) {
    position = position && layout.enter(position, name)
  }
  const match = position && layout.match(position, { ...entry, modifiedMs: 0 })
  return match && (match.session.date === WITHOUT_DATE ? '' : match.session.date)
}

/** The day of `modifiedMs: 0`, which dates sessions without a date in their names. */
const WITHOUT_DATE = '1970-01-01'
