// Shell commands in documents. test/documented-commands.test.ts runs each block as it is written,
// unless a comment before the block names what runs it, or why nothing does.

interface ProjectFile {
  path: string
  text: string
}

/** A fenced block of shell commands. */
export interface ShellBlock {
  /** Of its fence, from 1. */
  line: number
  commands: string
  /** The command that runs it, instead of the test. */
  runBy?: string
  /** Why nothing runs it. */
  notRun?: string
}

/** The one script that reads blocks of documents: scripts/image/try-debian.ts. */
export const IMAGE_SCRIPT = 'npm run image'

/** CommonMark 4.5, also inside of lists and quotes. */
const fence =
  /^(?<prefix>(?:[\s>]|[-*+]\s|\d+[.)]\s)*)(?<marks>`{3,}|~{3,})\s*(?<language>[^\s`{]*)[^`]*$/
const plainFence = /^ *```/
const closing = /^[\s>]*(?<marks>`{3,}|~{3,})\s*$/
const mark = /^<!-- (?<kind>run by|not run): (?<text>\S.*) -->$/
const otherShells = /^(?:sh|bash|shell|zsh|console|shell-session|terminal)$/i
const command = /^ *(?:[$#] )?(?:sudo |[A-Z_]+=\S+ )*(?:npm|npx|aftercast|docker|apt-get|curl) /m

/** The shell blocks of a document, in its order. */
export function listShellBlocks(text: string): ShellBlock[] {
  return listFences(text)
    .filter(({ language }) => language === 'sh')
    .map(({ line, before, commands }) => {
      const { kind, text: reason } = mark.exec(before)?.groups ?? {}
      return {
        line,
        commands,
        ...(kind === 'run by' && { runBy: reason }),
        ...(kind === 'not run' && { notRun: reason }),
      }
    })
}

interface Fence {
  line: number
  language: string
  /** Whether it begins with ```, and on a line of its own. */
  isPlain: boolean
  /** The last line before it that is not empty. */
  before: string
  commands: string
}

/** All fenced blocks of a document. */
export function listFences(text: string): Fence[] {
  const lines = text.split('\n')
  const fences: Fence[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const opening = lines[at] ?? ''
    const { prefix, marks, language } = fence.exec(opening)?.groups ?? {}
    if (prefix === undefined || marks === undefined || language === undefined) continue
    const length = lines
      .slice(at + 1)
      .findIndex((line) => closing.exec(line)?.groups?.marks?.startsWith(marks))
    const end = length === -1 ? lines.length : at + 1 + length
    const before = lines.slice(0, at).findLast((line) => line.trim() !== '') ?? ''
    const commands = lines.slice(at + 1, end).map((line) => line.slice(prefix.length))
    fences.push({
      line: at + 1,
      language,
      isPlain: plainFence.test(opening),
      before: before.trim(),
      commands: commands.join('\n'),
    })
    at = end
  }
  return fences
}

/** Blocks that nothing runs although they have no reason, and commands that cannot work. */
export function findCommandProblems(files: ProjectFile[]): string[] {
  const manifest = files.find(({ path }) => path === 'package.json')?.text ?? '{}'
  return files.flatMap((file) => [
    ...(file.path.endsWith('.md') ? findMarkProblems(file) : []),
    ...findWrongCommands(file, manifest),
  ])
}

function findMarkProblems({ path, text }: ProjectFile): string[] {
  return listFences(text).flatMap(({ line, language, isPlain, before, commands }) => {
    if (!isPlain) return [`${path}:${line}: begin the block with \`\`\`, on a line of its own`]
    const isShell = otherShells.test(language) || (language === '' && command.test(commands))
    if (language !== 'sh') return isShell ? [`${path}:${line}: begin the block with \`\`\`sh`] : []
    const { kind, text: runner } = mark.exec(before)?.groups ?? {}
    if (kind === undefined && /^<!-- *(?:not )?run\b/i.test(before))
      return [`${path}:${line}: write <!-- not run: the reason --> before the block`]
    if (kind === 'run by' && runner !== IMAGE_SCRIPT)
      return [`${path}:${line}: only ${IMAGE_SCRIPT} runs blocks of documents`]
    return []
  })
}

const npmScript = /\bnpm run (?:--silent )?(?<name>[a-z][\w:-]*)/g
/** Installs or runs the package by its name alone, from a registry that does not have it. */
const fromRegistry = /\b(?:npx|npm (?:install|exec|i))\b[^`'"\n]*? aftercast(?![\w./@-]*\.tgz)\b/
const tarball = /\baftercast-(?<version>\d+\.\d+\.\d+)\.tgz/g

function findWrongCommands({ path, text }: ProjectFile, manifest: string): string[] {
  if (path === 'package.json' || path === 'package-lock.json') return []
  const version = /"version": "(?<version>[^"]+)"/.exec(manifest)?.groups?.version
  return text.split('\n').flatMap((line, at) => {
    const scripts = [...line.matchAll(npmScript)].map(({ groups }) => groups?.name ?? '')
    const versions = [...line.matchAll(tarball)].map(({ groups }) => groups?.version)
    return [
      ...scripts
        .filter((name) => path.endsWith('.md') && !manifest.includes(`"${name}": `))
        .map((name) => `npm run ${name} is not in package.json`),
      ...(fromRegistry.test(line) ? ['there is no package aftercast on a registry'] : []),
      ...versions
        .filter((named) => named !== version)
        .map((named) => `the tarball of ${named} is not that of package.json`),
    ].map((problem) => `${path}:${at + 1}: ${problem}`)
  })
}
