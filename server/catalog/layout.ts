// Path template <-> session: which files of the library are recordings, and of which session.
import type { SessionReference } from '../../shared/paths.ts'
import { dateEnds, utcDay } from './date-text.ts'
import { parseLayoutTemplate } from './layout-template.ts'
import type { PartTemplate, Placeholder, Token } from './layout-template.ts'

/** Endings of recordings (lower case), best first: of two files of one session the first that plays is served. */
const extensions = ['.mp4', '.m4v', '.mov', '.ts', '.m2ts', '.mkv', '.webm', '.flv']

/** A folder's place in the layout: how deep it lies, and what the names so far stand for. */
export interface LayoutPosition {
  readonly depth: number
  readonly bound: Bindings
}

/** The session that a file belongs to. */
export interface LayoutMatch {
  session: SessionReference
  /** Place of the file's ending in the list of accepted ones; the lowest of a session is tried first. */
  rank: number
}

/** A compiled path template. Pure; names come as the storage spells them and go out in NFC. */
export interface Layout {
  /** The template as it was given. */
  readonly template: string
  /** The library's root. */
  readonly root: LayoutPosition
  /** The position of a folder inside another, or undefined where no recording can lie in it. */
  enter(position: LayoutPosition, folderName: string): LayoutPosition | undefined
  /** The session of a file, or undefined where it is no recording of this layout. `modifiedMs` dates it if no name does. */
  match(position: LayoutPosition, fileName: string, modifiedMs: number): LayoutMatch | undefined
}

type Bindings = Readonly<Partial<Record<Placeholder, string>>>

/** Compiles a template over `{streamer}`, `{date}`, `{sessionId}` and `*`. Throws AppError `usage`. */
export function createLayout(template: string): Layout {
  const parts = parseLayoutTemplate(template, extensions)
  const folders = parts.slice(0, -1)
  const last = parts.slice(-1)
  return {
    template,
    root: { depth: 0, bound: {} },
    enter({ depth, bound }, folderName) {
      const part = folders[depth]
      const found = part && matchPart(part, folderName.normalize('NFC'), bound)
      return found && { depth: depth + 1, bound: found }
    },
    match({ depth, bound }, fileName, modifiedMs) {
      const part = last[depth - folders.length]
      const file = splitExtension(fileName.normalize('NFC'))
      if (!part || !file) return undefined
      const found = matchPart(part, file.base, bound)
      const session = found && completeSession(found, file.base, modifiedMs)
      return session && { session, rank: file.rank }
    },
  }
}

/** The ending of a recording's name, in lower case with its dot; undefined where it is none. */
export function recordingExtension(name: string): string | undefined {
  const rank = splitExtension(name)?.rank
  return rank === undefined ? undefined : extensions[rank]
}

function splitExtension(name: string): { base: string; rank: number } | undefined {
  const dot = name.lastIndexOf('.')
  const rank = dot > 0 ? extensions.indexOf(name.slice(dot).toLowerCase()) : -1
  return rank === -1 ? undefined : { base: name.slice(0, dot), rank }
}

function completeSession(
  bound: Bindings,
  base: string,
  modifiedMs: number,
): SessionReference | undefined {
  const { streamer, date = utcDay(modifiedMs), sessionId = base } = bound
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
