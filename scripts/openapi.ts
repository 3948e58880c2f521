// Writes docs/api from the wire shapes and the table of operations: `npm run openapi`.
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import manifest from '../package.json' with { type: 'json' }
import { createDocument } from './openapi/document.ts'
import { formatReference } from './openapi/reference.ts'

const root = path.dirname(import.meta.dirname)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { file, wanted } of await findStaleApiFiles()) {
    await writeFile(path.join(root, file), wanted)
  }
}

/** Files that differ from the definitions, with their wanted content. */
export async function findStaleApiFiles(): Promise<{ file: string; wanted: string }[]> {
  const document = JSON.stringify(await createDocument(manifest.version), undefined, 1)
  const files = [
    { file: 'docs/api/openapi.json', wanted: `${document}\n` },
    { file: 'docs/api/README.md', wanted: formatReference() },
  ]
  const found = await Promise.all(
    files.map(({ file }) => readFile(path.join(root, file), 'utf8').catch(() => '')),
  )
  return files.filter(({ wanted }, at) => found[at] !== wanted)
}
