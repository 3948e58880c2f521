// Parses the path template of a library into tokens.
import { AppError } from '../../../base/errors.ts'
import { endingOf } from './recording-name.ts'

export type Placeholder = 'streamer' | 'date' | 'sessionId'

export type Token = { kind: 'text'; text: string } | { kind: Placeholder } | { kind: 'any' }

/** Tokens of one path component; at least one. */
export type PartTemplate = readonly Token[]

/**
 * Bounds on template length, path components and tokens per component: matching costs their
 * product.
 */
const MAX_TEMPLATE_LENGTH = 1024
const MAX_PARTS = 16
const MAX_TOKENS = 32

/**
 * Path components of the template, outermost folder first. `optional`: the streamer may come from
 * elsewhere.
 *
 * @throws AppError `usage` that describes the problem
 */
export function parseLayoutTemplate(
  template: string,
  { streamer }: { streamer: 'required' | 'optional' },
): PartTemplate[] {
  if (template.length > MAX_TEMPLATE_LENGTH) throw unusable('it is too long')
  const parts = template.normalize('NFC').split('/').map(parsePart)
  if (parts.length > MAX_PARTS) throw unusable(`it has more than ${MAX_PARTS} parts`)
  if (streamer === 'required' && !parts.flat().some(({ kind }) => kind === 'streamer')) {
    throw unusable('it has no {streamer}')
  }
  const last = parts.at(-1)?.at(-1)
  const extension = last?.kind === 'text' ? endingOf(last.text) : undefined
  if (extension !== undefined) throw unusable(`remove the file extension ${extension}`)
  return parts
}

function parsePart(part: string): PartTemplate {
  if (part === '') throw unusable('it has an empty path component')
  if (part.startsWith('.')) throw unusable('hidden files are never served')
  const tokens: Token[] = []
  for (let at = 0; at < part.length;) {
    const { token, end } = parseToken(part, at)
    checkBefore(tokens, token)
    tokens.push(token)
    at = end
  }
  if (tokens.length > MAX_TOKENS)
    throw unusable(`a path component has more than ${MAX_TOKENS} tokens`)
  return tokens
}

function parseToken(part: string, at: number): { token: Token; end: number } {
  if (part[at] === '*') return { token: { kind: 'any' }, end: at + 1 }
  if (part[at] === '}') throw unusable('it has a } without a {')
  if (part[at] !== '{') {
    let end = at + 1
    while (end < part.length && !'*{}'.includes(part.charAt(end))) end += 1
    return { token: { kind: 'text', text: part.slice(at, end) }, end }
  }
  const close = part.indexOf('}', at)
  if (close === -1) throw unusable('it has a { without a }')
  return { token: { kind: placeholder(part.slice(at + 1, close)) }, end: close + 1 }
}

function placeholder(name: string): Placeholder {
  if (name === 'streamer' || name === 'date' || name === 'sessionId') return name
  throw unusable(`{${name}} is not one of {streamer}, {date}, {sessionId}`)
}

function checkBefore(tokens: readonly Token[], token: Token): void {
  const before = tokens.at(-1)
  if (before && isFree(before) && isFree(token)) {
    throw unusable('two placeholders have no separator between them')
  }
  if (token.kind === 'text' || token.kind === 'any') return
  if (tokens.some(({ kind }) => kind === token.kind)) {
    throw unusable(`{${token.kind}} occurs twice in one path component`)
  }
}

/** Whether it matches any text, so that it has no natural end. */
function isFree({ kind }: Token): boolean {
  return kind === 'streamer' || kind === 'sessionId' || kind === 'any'
}

function unusable(why: string): AppError {
  return new AppError('usage', `layout: ${why}`)
}
