// Import graph of the sources, read from their text: paths to a package, and import cycles.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** A source file: its path from the root, parts joined by `/`, and its text. */
export interface SourceFile {
  path: string
  text: string
}

/**
 * Import chains from the file to the package node-av, formatted as text. Only child programs
 * (`*-child.ts`) may load FFmpeg; they are started, not imported. Type imports load nothing and
 * are not followed.
 */
export function findPathsToNodeAv(entry: string): string[] {
  const seen = new Set<string>()
  const follow = (file: string, chain: string[]): string[] => {
    if (seen.has(file) || !existsSync(file)) return []
    seen.add(file)
    const here = [...chain, path.basename(file)]
    return listImports(readFileSync(file, 'utf8')).flatMap(({ specifier, isType }) => {
      if (isType) return []
      if (/^node-av(?:\/|$)/.test(specifier)) return [[...here, specifier].join(' > ')]
      return specifier.startsWith('.')
        ? follow(path.resolve(path.dirname(file), specifier), here)
        : []
    })
  }
  return follow(entry, [])
}

/**
 * Import cycles between the files, formatted as text, one for each import that closes a cycle.
 * Dynamic imports and type imports count: the linter's `import/no-cycle` does not follow
 * `import()`.
 */
export function findImportCycles(files: readonly SourceFile[]): string[] {
  const imports = importGraph(files)
  const done = new Set<string>()
  const visit = (file: string, chain: string[]): string[] => {
    const start = chain.indexOf(file)
    if (start !== -1) return [[...chain.slice(start), file].join(' > ')]
    if (done.has(file)) return []
    const cycles = [...(imports.get(file) ?? [])].flatMap((next) => visit(next, [...chain, file]))
    done.add(file)
    return cycles
  }
  return [...imports.keys()].flatMap((file) => visit(file, []))
}

/** For each file, the files that it imports. */
function importGraph(files: readonly SourceFile[]): Map<string, Set<string>> {
  const known = new Set(files.map(({ path: name }) => name))
  const importsOf = ({ path: name, text }: SourceFile) =>
    listImports(text)
      .map(({ specifier }) => path.posix.join(path.posix.dirname(name), specifier))
      .filter((target) => known.has(target))
  return new Map(files.map((file) => [file.path, new Set(importsOf(file))]))
}

interface Import {
  specifier: string
  isType: boolean
}

/** Static imports and re-exports of a module, and its dynamic imports. */
function listImports(text: string): Import[] {
  const statement =
    /^\s*(?:import|export)\s+(?<type>type\b)?(?:[^'";]*?\sfrom\s+)?['"](?<from>[^'"]+)['"]/gm
  const dynamic = /\bimport\(\s*['"](?<from>[^'"]+)['"]/g
  return [...text.matchAll(statement), ...text.matchAll(dynamic)].map(({ groups }) => ({
    specifier: groups?.from ?? '',
    isType: groups?.type !== undefined,
  }))
}
