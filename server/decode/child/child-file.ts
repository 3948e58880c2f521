// Locates the program of a child process: TypeScript when running from source, JavaScript when
// built.
import { fileURLToPath } from 'node:url'

/**
 * Path of a program next to the file that starts it.
 *
 * @param name its name without extension, e.g. `audio-child`
 * @param startedFrom `import.meta.url` of that file
 */
export function childFile(name: string, startedFrom: string): string {
  const extension = startedFrom.endsWith('.ts') ? 'ts' : 'js'
  return fileURLToPath(new URL(`./${name}.${extension}`, startedFrom))
}
