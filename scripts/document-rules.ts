// Rules for documents: files that a document or a comment names exist, and decisions have one form.

interface ProjectFile {
  path: string
  text: string
}

/** Names of files and decisions in documents and comments that are not in the repository. */
export function findMissingReferences(files: ProjectFile[]): string[] {
  const paths = files.map(({ path }) => path)
  const exists = (name: string) => paths.includes(name) || paths.includes(name.split('#')[0] ?? '')
  return files.flatMap(({ path, text }) =>
    textOf(path, text).flatMap((line, at) => {
      const missing = [
        ...[...line.matchAll(filePath)]
          .map(([, name = '']) => name)
          .filter((name) => !exists(name)),
        ...[...line.matchAll(decisionNumber)]
          .map(([name]) => name)
          .filter((name) => !paths.some((other) => other.startsWith(`${name}-`))),
        ...[...line.matchAll(privateDocument)].map(([name]) => name),
      ]
      return missing.map((name) => `${path}:${at + 1}: ${name} is not in the repository`)
    }),
  )
}

const folders = 'server|web|shared|test|bench|scripts|docs|decisions'
const extensions = 'tsx?|mjs|css|md|svg'
const filePath = new RegExp(
  String.raw`(?<![\w*])((?:${folders})/[\w./-]+\.(?:${extensions})|(?<!/)[A-Z]{3,}\.md)\b`,
  'g',
)
const decisionNumber = /\bdecisions\/\d{3}(?=\D)(?!-)/g
/** Documents of the authors that the repository does not contain. */
const privateDocument = /\b(?:SPEC|CONTRACT|DESIGN)\b(?!\.md)/g

/** The lines of a document; of source code only its comments. */
function textOf(path: string, text: string): string[] {
  if (path.endsWith('.md')) return text.split('\n')
  if (!/\.(?:tsx?|mjs|css)$/.test(path)) return []
  return text.split('\n').map((line) => /(?:^|\s)\/\/ .*|^\s*\/?\*.*/.exec(line)?.[0] ?? '')
}

const decisionFile = /^decisions\/(?<number>\d{3})-[a-z0-9-]+\.md$/
const decisionStatus = /^Date: \d{4}-\d{2}-\d{2}\. Status: (?:accepted|superseded by \d{3})\.$/m

/** Decisions with a gap in the numbers, or without date, status, alternatives or list entry. */
export function findDecisionProblems(files: ProjectFile[]): string[] {
  const list = files.find(({ path }) => path === 'decisions/README.md')?.text ?? ''
  const decisions = files
    .flatMap(({ path, text }) => {
      const number = decisionFile.exec(path)?.groups?.['number']
      return number === undefined ? [] : [{ path, text, number }]
    })
    .toSorted((a, b) => a.path.localeCompare(b.path))
  return decisions.flatMap(({ path, text, number }, at) => [
    ...(Number(number) === at + 1 ? [] : [`${path}: expected number ${at + 1}`]),
    ...(text.startsWith(`# ${number} `) ? [] : [`${path}:1: begin with "# ${number} Title"`]),
    ...(decisionStatus.test(text) ? [] : [`${path}: add "Date: YYYY-MM-DD. Status: accepted."`]),
    ...(text.includes('\n## Rejected\n') ? [] : [`${path}: add "## Rejected"`]),
    ...(list.includes(`](${path.slice('decisions/'.length)})`)
      ? []
      : [`${path}: add it to decisions/README.md`]),
  ])
}
