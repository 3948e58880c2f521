// Words that a native engineer would have to translate, and lines that are too wide: finds both in
// comments, messages and documents. Run alone on a subset: `node scripts/dialect.ts PATH...`.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const MAX_COLUMNS = 100
const generated = /^server\/site\/ads\/creatives\//

/** A pattern of the dialect and what to write instead. A space matches any white space. */
type Rule = readonly [pattern: RegExp, instead: string]

const proxies = /(?:[\w'-]+ ){0,3}(?:prox(?:y|ies)|CDNs?|balancers?|NAT|firewalls?|gateways?)\b/
const h26xPicture = /(?:parameter sets?|order count|timing|headers?|start code|width|height)\b/
const determiner = /(?:an?|the|this|each|every|no|its|any|another|first|last|next|previous)/

const rules: Rule[] = [
  [/\b(?:tell|tells|telling|told)\b/, 'report, return, print, pass, notify, distinguish'],
  [/\b(?:says?|said|saying)\b/, 'state, report, contain, declare'],
  [/\b(?:asks|asked|asking)\b/, 'request, call, query'],
  [/\bwho(?:ever)? ask\b|\b(?:to|for|of|from|by|with|than) who\b/, 'the client that'],
  [/\b(?:knows|wants)\b/, 'has, stores, needs, requests'],
  [/\bno word (?:from|of)\b/, 'no message'],
  [/\b(?:hears|heard) of\b/, 'receives, is notified'],
  [/\b(?:lie|lies|lying)\b/, 'is in, is at, is stored'],
  [/\blay (?:in|at|on|there|behind|beside|before|between|where)\b/, 'was in, was at'],
  [/\b(?:stand|stands|stood)\b(?!-| ?alone)/, 'is, appears, represents'],
  [
    new RegExp(
      String.raw`(?<!\b(?:falls?|fell|falling|lags?|lagging) )\bbehind\b(?! ${proxies.source})`,
    ),
    'after, next to, through',
  ],
  [/(?<!(?:prox(?:y|ies)|CDN|cache|balancer|server)(?: that is)? )\bin front\b/, 'before'],
  [/\bfront to back\b/, 'sequentially'],
  [/\banew\b/, 'again'],
  [/\bin turns\b/, 'concurrently, alternately'],
  [/\bat hand\b/, 'cached, available'],
  [/\bkept\b(?! for later)/, 'cached, stored, retained, held'],
  [/\b(?:throw|throws|threw|thrown|throwing) (?:it |them )?away\b/, 'discard, evict, drop'],
  [/\b(?:forgets|forgotten|forgot)\b/, 'evicted, expired, dropped'],
  [/\bcomes? and goe?s?\b/, 'on demand'],
  [/\bsounds?\b/i, 'audio'],
  [
    new RegExp(
      String.raw`(?<!\b(?:[IPB]|IDR|IRAP|BLA|CRA|RASL|RADL|leading|trailing|coded|reference)[ -])` +
        String.raw`(?<!picture-in-)\bpictures?\b(?!-in-)(?! ${h26xPicture.source})`,
      'i',
    ),
    'frame, image, video',
  ],
  [/\bset-ups?\b/, 'config'],
  [/\bpieces?\b/, 'segment, chunk, part'],
  [
    new RegExp(
      String.raw`\b(?:${determiner.source}|stable|mid|at|of|between)[ -]cuts?\b` +
        String.raw`(?! (?:off|short|up))`,
    ),
    'split point',
  ],
  [/\b(?:is|are|was|were|be) cut\b(?! (?:off|short|up))/, 'is split'],
  [/\bcuts? off\b/, 'truncate, disconnect'],
  [new RegExp(String.raw`\b${determiner.source} breaks?\b`), 'discontinuity'],
  [/\bdamage[sd]?\b/, 'corrupt, truncated, corruption'],
  [/\b(?:spoil|spoils|spoilt|spoiled)\b/, 'corrupt, invalidate'],
  [/\btexts\b/, 'strings, messages, subtitles'],
  [
    /\ba text\b(?!\/| (?:file|node|track|field|input|box|editor|mode|format|cue|run)s?\b)/,
    'a string',
  ],
  [/\b(?:ad|filled|empty|layout) places?\b/, 'ad slot'],
  [/\bplaces? for (?:ads?|an ad)\b/, 'ad slot'],
  [/\bbells?\b/, 'wake signal'],
  [/\b(?:a|spaced|each|every|another|one) looks?\b(?!-| ?up)/, 'lookup, check'],
  [/\b(?:look|looks|looked) (?:at|into|through|again|for)\b/, 'read, check, search'],
  [/\b(?:is|are|was|be|been) let\b/, 'is allowed'],
  [/\b(?:is|are|was|be|been) taken for\b/, 'is treated as'],
  [new RegExp(String.raw`\b(?:${determiner.source}|whole|same|error|own) answers?\b`), 'response'],
  [/\b(?:a|the|of|no|for) grown\b/, 'growing'],
  [/\brecordings? that (?:(?:still )?grows?|(?:is|are) (?:still )?growing)\b/, 'growing recording'],
  [/\b(?:go|goes|went|gone) on\b/, 'continue'],
  [/\bthe way of\b/, 'the path of'],
  [/\bside files?\b/, 'index file, sidecar file'],
  [/\b(?:a|the|each|every) joint\b(?![ -]stereo)|\bjoints\b/, 'boundary'],
  [/\ba stretch\b|\bstretches of\b/, 'range, interval'],
  [/\bdear(?:er|est)?\b/, 'expensive'],
  [/\b(?:of|than|as) ours\b/, 'of this server'],
  [/\bfor so long\b/, 'for this long'],
  [/\bso many\b(?! (?:[a-z]+ ){0,3}that\b)/, 'this many, N'],
  [/\bfor good\b(?! reasons?\b)/, 'permanently'],
]

/** Every pattern as it is used: a space also matches a line break between two comment lines. */
const compiled = rules.map(([pattern, instead]) => ({
  pattern: new RegExp(pattern.source.replaceAll(' ', String.raw`\s+`), 'gi'),
  instead,
}))

/** Dialect in the comments, messages and prose of a file, as `path:line: ...`. */
export function findDialect({ path: name, text }: { path: string; text: string }): string[] {
  const prose = keepProse(name, text)
  if (prose === undefined) return []
  const hits = compiled.flatMap(({ pattern, instead }) =>
    [...prose.matchAll(pattern)].map((match) => ({ match, instead })),
  )
  return hits
    .toSorted((a, b) => a.match.index - b.match.index)
    .map(({ match, instead }) => {
      const line = prose.slice(0, match.index).split('\n').length
      return `${name}:${line}: "${match[0].replaceAll(/\s+/g, ' ')}": write ${instead}`
    })
}

const nameWords = /^(?:sounds?|told|tells?|untold|anew|pieces?|bell)$/i

/** Dialect in the names of a file: its path, and the identifiers of source code. */
export function findDialectNames({ path: name, text }: { path: string; text: string }): string[] {
  const isDialect = (identifier: string) =>
    identifier.split(/[^A-Za-z]|(?<=[a-z])(?=[A-Z])/).some((word) => nameWords.test(word))
  const inPath = isDialect(path.basename(name)) ? [`${name}: rename the file`] : []
  if (!/\.(?:tsx?|mjs|js)$/.test(name)) return inPath
  const lines = text.replaceAll(token, mask).split('\n')
  const inCode = lines.flatMap((line, at) =>
    (line.match(/[A-Za-z_$][\w$]*/g) ?? [])
      .filter(isDialect)
      .map((identifier) => `${name}:${at + 1}: rename ${identifier}`),
  )
  return [...inPath, ...inCode]
}

/**
 * Lines over 100 columns, except data: rows of tables and lines with a link in Markdown, content
 * of template literals, expected strings of tests, long addresses, generated creatives.
 */
export function findWideLines({ path: name, text }: { path: string; text: string }): string[] {
  const isChecked = /\.(?:tsx?|mjs|js|css|html|md)$/.test(name) && !generated.test(name)
  if (!isChecked) return []
  const checked = name.endsWith('.md') ? text : text.replaceAll(token, emptyTemplate)
  const mayBeWide = dataLine(name)
  return checked
    .split('\n')
    .flatMap((line, at) =>
      line.length > MAX_COLUMNS && !mayBeWide.test(line)
        ? [`${name}:${at + 1}: ${line.length} columns; at most ${MAX_COLUMNS}`]
        : [],
    )
}

function dataLine(name: string): RegExp {
  if (name.endsWith('.md')) return /^\s*\||\]\(|https?:/
  const isTest = /^test\/|\.(?:test|spec)\./.test(name)
  return isTest ? /https?:\/\/\S{50}|^\s*(['"`]).*\1[,)\]]*$/ : /https?:\/\/\S{50}/
}

/** Empties the lines of a template literal that has several. */
function emptyTemplate(found: string): string {
  return found.startsWith('`') && found.includes('\n') ? found.replaceAll(/[^\n]/g, '') : found
}

/** The file with all but its prose masked, so that offsets and lines stay; none for other kinds. */
function keepProse(name: string, text: string): string | undefined {
  if (name.endsWith('.md')) return maskMarkdownCode(text)
  if (/\.(?:tsx?|mjs|js)$/.test(name)) return maskCode(text, name.endsWith('x'))
  if (name.endsWith('.css')) return keepMatches(text, /\/\*[^]*?\*\//g, (found) => found)
  return undefined
}

const MASK = '\0'

function mask(text: string): string {
  return text.replaceAll(/[^\n]/g, MASK)
}

function maskMarkdownCode(text: string): string {
  return text
    .replaceAll(/^```[^]*?^```/gm, mask)
    .replaceAll(/`[^`\n]+`/g, mask)
    .replaceAll(/\]\([^)\s]+\)/g, mask)
    .replaceAll(/^[ ]*[|#>*-]+/gm, (found) => ' '.repeat(found.length))
}

const comment = /\/\/[^\n]*|\/\*[^]*?\*\//
const stringLiteral = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/
/** A regular expression, which is recognised by the token before it. */
const regexLiteral =
  /(?<=(?:[=(,:[!&|?{};+\n]|=>|return)\s*)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//
const token = new RegExp(
  [comment, stringLiteral, regexLiteral].map(({ source }) => source).join('|'),
  'g',
)

/** Leaves comments, strings that contain a space, and the text of JSX elements. */
function maskCode(text: string, isJsx: boolean): string {
  const inCode = keepMatches(text, token, keepToken)
  if (!isJsx) return inCode
  const jsxText = keepMatches(text, /(?<=[^=]>)[^<>{}]*\s[^<>{}]*(?=[<{])/g, (found) =>
    /[;=]/.test(found) ? mask(found) : found,
  )
  return inCode.replaceAll(MASK, (_, at: number) => jsxText.charAt(at))
}

function keepToken(token: string): string {
  if (token.startsWith('/') && !/^\/[/*]/.test(token)) return mask(token)
  if (/^\/[/*]/.test(token)) {
    // The marks of consecutive comment lines become spaces, so that a phrase may cross them.
    return token.replaceAll(/`[^`\n]+`/g, mask).replaceAll(/^(?:\/\/|\/\*+)|\*+\/$|^\s*\*/gm, blank)
  }
  return /\s/.test(token) ? token.replaceAll(/\$\{[^}]*\}/g, mask) : mask(token)
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ')
}

function keepMatches(text: string, pattern: RegExp, keep: (found: string) => string): string {
  let result = ''
  let end = 0
  for (const match of text.matchAll(pattern)) {
    result += maskButSpace(text.slice(end, match.index)) + keep(match[0])
    end = match.index + match[0].length
  }
  return result + maskButSpace(text.slice(end))
}

/** White space between two comment lines must stay, for phrases that cross the line break. */
function maskButSpace(text: string): string {
  return /\S/.test(text) ? mask(text) : text
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = process.argv
    .slice(2)
    .flatMap(listFiles)
    .map((name) => ({ path: name, text: readFileSync(name, 'utf8') }))
    .flatMap((file) => [...findDialect(file), ...findDialectNames(file), ...findWideLines(file)])
  for (const problem of problems) console.log(problem)
  console.log(`${problems.length} problems`)
  process.exitCode = problems.length === 0 ? 0 : 1
}

function listFiles(name: string): string[] {
  if (/(?:^|\/)(?:node_modules|fixtures|dist|\.git)$/.test(name)) return []
  if (!statSync(name).isDirectory())
    return /\.(?:tsx?|mjs|js|css|html|md)$/.test(name) ? [name] : []
  return readdirSync(name).flatMap((entry) => listFiles(path.join(name, entry)))
}
