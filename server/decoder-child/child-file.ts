// Where a child's program lies: TypeScript where that runs directly, JavaScript once emitted.
import { fileURLToPath } from 'node:url'

/**
 * Path of a program beside the file that starts it.
 *
 * @param name its name without extension, e.g. `sound-child`
 * @param startedFrom `import.meta.url` of that file
 */
export function childFile(name: string, startedFrom: string): string {
  const extension = startedFrom.endsWith('.ts') ? 'ts' : 'js'
  return fileURLToPath(new URL(`./${name}.${extension}`, startedFrom))
}
