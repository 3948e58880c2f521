// Rules for documents: files that a document or a comment names exist, large folders have a README,
// and decisions have one form.

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

const MAX_FILES_WITHOUT_README = 10
const sourceFile = /^((?:server|web|shared|test|bench|scripts)\b.*)\/[^/.]+\.(?:tsx?|mjs)$/
const readmeFile = /^(.+)\/README\.md$/
const namedFile = /(?<=`)[\w./-]+\.(?:tsx?|mjs|css)(?=`)/g

/**
 * Folders with many files that neither their own README describes nor, by name, that of the folder
 * above; and files that the README of a folder names and that do not exist.
 */
export function findReadmeProblems(files: ProjectFile[]): string[] {
  const readmes = new Map(
    files.flatMap(({ path, text }) => {
      const folder = readmeFile.exec(path)?.[1]
      return folder === undefined ? [] : [[folder, text]]
    }),
  )
  const undescribed = countFiles(files).flatMap(([folder, count]) => {
    const above = folder.lastIndexOf('/')
    const name = `\`${folder.slice(above + 1)}/`
    if (readmes.has(folder) || readmes.get(folder.slice(0, above))?.includes(name)) return []
    return [`${folder}: add a README: how do its ${count} files work together?`]
  })
  const exists = (name: string) => files.some(({ path }) => `/${path}`.endsWith(`/${name}`))
  const missing = [...readmes].flatMap(([folder, text]) =>
    [...text.matchAll(namedFile)]
      .map(([name]) => name.replace(/^(?:\.\.\/)+/, ''))
      .filter((name) => !exists(name))
      .map((name) => `${folder}/README.md: ${name} is not in the repository`),
  )
  return [...undescribed, ...missing]
}

/** Folders with many files, without tests, and their number. */
function countFiles(files: ProjectFile[]): [folder: string, count: number][] {
  const counts = new Map<string, number>()
  for (const { path } of files) {
    const folder = sourceFile.exec(path)?.[1]
    if (folder !== undefined) counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts].filter(([, count]) => count > MAX_FILES_WITHOUT_README)
}
