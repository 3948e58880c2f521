// Path templates <-> sessions: which files and folders of the library are recordings, and of which session.
import type { SessionReference } from '../../../shared/paths.ts'
import { AppError } from '../../errors.ts'
import { dateEnds, utcDay } from './date-name.ts'
import { layoutPresets } from './layout-presets.ts'
import { parseLayoutTemplate } from './layout-template.ts'
import type { PartTemplate, Placeholder, Token } from './layout-template.ts'
import { FOLDER_RANK, parseRecordingName } from './recording-name.ts'
import { unixTimeMs } from './start-time.ts'

/** A folder's place in the layout: how deep it lies, and what the names so far stand for in each template that fits. */
export interface LayoutPosition {
  readonly depth: number
  readonly candidates: readonly Candidate[]
}

interface Candidate {
  readonly parts: readonly PartTemplate[]
  readonly bound: Bindings
}

/** The session that a file or a folder belongs to. */
export interface LayoutMatch {
  session: SessionReference
  /** Place among the recordings of one session; the lowest is tried first. */
  rank: number
}

/** A file or a folder as it may name a session. */
export interface NamedEntry {
  name: string
  kind: 'file' | 'folder'
  /** Dates the session if no name does, in milliseconds since 1970. */
  modifiedMs: number
}

/** A compiled layout. Pure; names come as the storage spells them and go out in NFC. */
export interface Layout {
  /** A text that no other layout has. */
  readonly identity: string
  /** The library's root. */
  readonly root: LayoutPosition
  /** The position of a folder inside another, or undefined where no recording can lie in it. */
  enter(position: LayoutPosition, folderName: string): LayoutPosition | undefined
  /** The session of a file, or of a folder that holds parts; undefined where it is no recording of this layout. */
  match(position: LayoutPosition, entry: NamedEntry): LayoutMatch | undefined
}

type Bindings = Readonly<Partial<Record<Placeholder, string>>>

/**
 * Compiles a layout: a template over `{streamer}`, `{date}`, `{sessionId}` and `*`, or the name of one that is known.
 * `libraryName`, the name of the library's own folder, is the streamer where a known layout has none. Throws AppError
 * `usage`.
 */
export function createLayout(layout: string, libraryName = ''): Layout {
  const preset = findPreset(layout)
  const templates = preset ?? [layout]
  const streamer = preset === undefined ? 'required' : 'optional'
  const all = templates.map((template) => parseLayoutTemplate(template, { streamer }))
  const asksLibrary = !all.every(hasStreamer)
  return {
    identity: [...templates, ...(asksLibrary ? [libraryName] : [])].join('\n'),
    root: { depth: 0, candidates: all.map((parts) => bindLibrary(parts, libraryName)) },
    enter({ depth, candidates }, folderName) {
      const name = folderName.normalize('NFC')
      const entered = candidates.flatMap(({ parts, bound }): Candidate[] => {
        const part = depth < parts.length - 1 ? parts[depth] : undefined
        const found = part && matchPart(part, name, bound)
        return found ? [{ parts, bound: found }] : []
      })
      return entered.length === 0 ? undefined : { depth: depth + 1, candidates: entered }
    },
    match({ depth, candidates }, { name, kind, modifiedMs }) {
      const text = name.normalize('NFC')
      const named = kind === 'file' ? parseRecordingName(text) : { base: text, rank: FOLDER_RANK }
      if (named === undefined) return undefined
      for (const { parts, bound } of candidates) {
        const part = depth === parts.length - 1 ? parts[depth] : undefined
        const found = part && matchPart(part, named.base, bound)
        const session = found && completeSession(found, named.base, modifiedMs)
        if (session) return { session, rank: named.rank }
      }
      return undefined
    },
  }
}

/** Undefined where it is a template. */
function findPreset(layout: string): readonly string[] | undefined {
  if (layout.includes('{')) return undefined
  if (Object.hasOwn(layoutPresets, layout)) return layoutPresets[layout]
  throw new AppError(
    'usage',
    `layout: it is neither a template with {streamer} nor one of ${Object.keys(layoutPresets).join(', ')}`,
  )
}

function bindLibrary(parts: PartTemplate[], libraryName: string): Candidate {
  const streamer = libraryName.normalize('NFC')
  return { parts, bound: hasStreamer(parts) || streamer === '' ? {} : { streamer } }
}

function hasStreamer(parts: readonly PartTemplate[]): boolean {
  return parts.flat().some(({ kind }) => kind === 'streamer')
}

/** A date that is a Unix time is shown as its day, and is the session's id where nothing else is. */
function completeSession(
  bound: Bindings,
  base: string,
  modifiedMs: number,
): SessionReference | undefined {
  const { streamer, date: written } = bound
  const unixMs = unixTimeMs(written ?? base)
  const date = unixMs === undefined ? (written ?? utcDay(modifiedMs)) : utcDay(unixMs)
  const sessionId = bound.sessionId ?? (unixMs === undefined ? base : (written ?? base))
  if (streamer === undefined || isDots(streamer) || isDots(sessionId)) return undefined
  return { streamer, date, sessionId }
}

/** A URL cannot carry these as a part of its path: clients resolve them. */
function isDots(name: string): boolean {
  return name === '.' || name === '..'
}

/**
 * Matches a whole name, each placeholder as short as possible (dates as long as possible). A placeholder that is
 * bound already stands for the same text again. What failed at (token, position) is remembered, so that a hostile
 * name costs at most tokens x length² steps.
 */
function matchPart(part: PartTemplate, name: string, bound: Bindings): Bindings | undefined {
  const failed = new Set<number>()
  const found: Partial<Record<Placeholder, string>> = {}

  const matchFrom = (index: number, position: number): boolean => {
    const token = part[index]
    if (!token) return position === name.length
    const state = index * (name.length + 1) + position
    if (failed.has(state)) return false
    for (const end of tokenEnds(token, {
      name,
      position,
      bound,
      isLast: index === part.length - 1,
    })) {
      if (!matchFrom(index + 1, end)) continue
      if (token.kind !== 'text' && token.kind !== 'any') {
        found[token.kind] = name.slice(position, end)
      }
      return true
    }
    failed.add(state)
    return false
  }

  return matchFrom(0, 0) ? { ...bound, ...found } : undefined
}

interface TokenPlace {
  name: string
  position: number
  bound: Bindings
  isLast: boolean
}

/** Where a token that begins at `position` may end, in the order in which to try. */
function* tokenEnds(token: Token, place: TokenPlace): Generator<number> {
  const { name, position, bound, isLast } = place
  const text =
    token.kind === 'text' ? token.text : token.kind === 'any' ? undefined : bound[token.kind]
  if (text !== undefined) {
    if (name.startsWith(text, position)) yield position + text.length
  } else if (token.kind === 'date') {
    yield* dateEnds(name, position)
  } else if (isLast) {
    if (position < name.length || token.kind === 'any') yield name.length
  } else {
    const shortest = token.kind === 'any' ? position : position + 1
    for (let end = shortest; end <= name.length; end += 1) yield end
  }
}
