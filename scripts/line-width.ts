// Lines over 100 columns in source code and documents: a rule of check-style.ts. The formatter
// leaves comments, strings and prose as they are.

const MAX_COLUMNS = 100
const checked = /\.(?:tsx?|mjs|js|css|html|md)$/
const generated = /^server\/site\/ads\/creatives\//

/**
 * Lines that are too wide, except data: rows of tables and lines with a link in Markdown, content
 * of template literals, expected strings of tests, long addresses, generated creatives.
 */
export function findWideLines({ path: name, text }: { path: string; text: string }): string[] {
  if (!checked.test(name) || generated.test(name)) return []
  const content = name.endsWith('.md') ? text : text.replaceAll(token, emptyTemplate)
  const mayBeWide = dataLine(name)
  return content
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

const comment = /\/\/[^\n]*|\/\*[^]*?\*\//
const stringLiteral = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/
/** A regular expression, which is recognised by the token before it. */
const regexLiteral =
  /(?<=(?:[=(,:[!&|?{};+\n]|=>|return)\s*)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//
const token = new RegExp(
  [comment, stringLiteral, regexLiteral].map(({ source }) => source).join('|'),
  'g',
)

/** Empties the lines of a template literal that has several. */
function emptyTemplate(found: string): string {
  return found.startsWith('`') && found.includes('\n') ? found.replaceAll(/[^\n]/g, '') : found
}
