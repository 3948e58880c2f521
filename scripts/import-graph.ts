// Follows the imports of a program, to see what it would load.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Chains of imports that lead from the file to the package node-av, as text. FFmpeg must only be loaded by programs of
 * their own (`*-child.ts`), which are started, not imported. Type imports load nothing and are not followed.
 */
export function findPathsToNodeAv(entry: string): string[] {
  const seen = new Set<string>()
  const follow = (file: string, chain: string[]): string[] => {
    if (seen.has(file) || !existsSync(file)) return []
    seen.add(file)
    const here = [...chain, path.basename(file)]
    return listImports(readFileSync(file, 'utf8')).flatMap((specifier) => {
      if (/^node-av(?:\/|$)/.test(specifier)) return [[...here, specifier].join(' > ')]
      return specifier.startsWith('.')
        ? follow(path.resolve(path.dirname(file), specifier), here)
        : []
    })
  }
  return follow(entry, [])
}

/** What a module's text loads when it is imported, or later by `import()`. */
function listImports(text: string): string[] {
  const pattern =
    /^\s*(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?['"](?<loaded>[^'"]+)['"]|\bimport\(\s*['"](?<later>[^'"]+)['"]/gm
  return [...text.matchAll(pattern)].flatMap(({ groups }) => groups?.loaded ?? groups?.later ?? [])
}
