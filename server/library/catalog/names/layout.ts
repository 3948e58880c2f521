// Maps paths to sessions: which files and folders of the library are recordings, and of which
// session.
import type { SessionReference } from '../../../../shared/paths.ts'
import { AppError } from '../../../base/errors.ts'
import { dateEnds, utcDay } from './date-name.ts'
import { layoutPresets } from './layout-presets.ts'
import { parseLayoutTemplate } from './layout-template.ts'
import type { PartTemplate, Placeholder, Token } from './layout-template.ts'
import { FOLDER_RANK, parseRecordingName } from './recording-name.ts'
import { unixTimeMs } from './start-time.ts'

/**
 * A folder's position in the layout: its depth, and the placeholder values bound so far per
 * matching template.
 */
export interface LayoutPosition {
  readonly depth: number
  readonly candidates: readonly Candidate[]
}

interface Candidate {
  readonly parts: readonly PartTemplate[]
  readonly bound: Bindings
}

/** The session of a file or folder. */
export interface LayoutMatch {
  session: SessionReference
  /** Rank among the recordings of one session; the lowest is tried first. */
  rank: number
}

/** A file or folder whose name may denote a session. */
export interface NamedEntry {
  name: string
  kind: 'file' | 'folder'
  /** Milliseconds since 1970; dates the session if no name contains a date. */
  modifiedMs: number
}

/** A compiled layout. Pure. Takes names as spelled in storage, returns them in NFC. */
export interface Layout {
  /** Unique per layout. */
  readonly identity: string
  /** The library's root. */
  readonly root: LayoutPosition
  /** The position of a subfolder; undefined if it cannot contain recordings. */
  enter(position: LayoutPosition, folderName: string): LayoutPosition | undefined
  /**
   * The session of a file, or of a folder of parts; undefined if it is no recording in this layout.
   */
  match(position: LayoutPosition, entry: NamedEntry): LayoutMatch | undefined
}

type Bindings = Readonly<Partial<Record<Placeholder, string>>>

/**
 * Compiles a template over `{streamer}`, `{date}`, `{sessionId}` and `*`, or a preset by its name.
 * Presets without `{streamer}` use `libraryName`, the name of the library's root folder.
 *
 * @throws AppError `usage`
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

/** Undefined if `layout` is a template. */
function findPreset(layout: string): readonly string[] | undefined {
  if (layout.includes('{')) return undefined
  if (Object.hasOwn(layoutPresets, layout)) return layoutPresets[layout]
  const names = Object.keys(layoutPresets).join(', ')
  throw new AppError('usage', `layout: neither a template with {streamer} nor one of ${names}`)
}

function bindLibrary(parts: PartTemplate[], libraryName: string): Candidate {
  const streamer = libraryName.normalize('NFC')
  return { parts, bound: hasStreamer(parts) || streamer === '' ? {} : { streamer } }
}

function hasStreamer(parts: readonly PartTemplate[]): boolean {
  return parts.flat().some(({ kind }) => kind === 'streamer')
}

/** A Unix time is shown as its day, and becomes the session id if the name has no other. */
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

/** Clients resolve `.` and `..` in URL paths, so they cannot be names. */
function isDots(name: string): boolean {
  return name === '.' || name === '..'
}

/**
 * Matches a whole name; placeholders match as little as possible, dates as much as possible. A
 * placeholder that is already bound matches the same text. Failed (token, position) pairs are
 * memoised, so that a hostile name costs at most tokens x length² steps.
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

/** Possible ends of a token that starts at `position`, in the order to try them. */
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
