// The release after this one: this program with one more step in both databases.
import { chmod, cp, readFile, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'

const ROOT = path.resolve(import.meta.dirname, '../../..')
const COPIED = ['server', 'shared', 'package.json']
const LINKED = ['node_modules', 'dist']

/**
 * Its step of the shared database. It adds what this release does not know, and removes what only
 * releases before this one need (see `carry_facts` in server/cluster/postgres/migrations.ts).
 */
const SHARED_STEP = [
  'DROP TRIGGER carry_facts ON aftercast.recordings',
  'DROP FUNCTION aftercast.carry_facts',
  `ALTER TABLE aftercast.recordings DROP COLUMN title, DROP COLUMN starts_at_ms,
     ADD COLUMN later text, ADD COLUMN counted bigint NOT NULL DEFAULT 0`,
  'CREATE INDEX recordings_later ON aftercast.recordings (later) WHERE later IS NOT NULL',
  `ALTER TABLE aftercast.hidden ADD COLUMN later text NOT NULL DEFAULT ''`,
  'ALTER TABLE aftercast.library ADD COLUMN later text',
  'CREATE TABLE aftercast.later (id integer PRIMARY KEY)',
]
const CATALOG_STEP = ['ALTER TABLE recordings ADD COLUMN later TEXT']

/** Makes its checkout in a folder. */
export async function makeNextRelease(folder: string): Promise<void> {
  const isTest = (name: string): boolean => name.endsWith('.test.ts')
  for (const name of COPIED) {
    const options = { recursive: true, filter: (source: string) => !isTest(source) }
    await cp(path.join(ROOT, name), path.join(folder, name), options)
  }
  for (const name of LINKED) await symlink(path.join(ROOT, name), path.join(folder, name))
  await addStep(path.join(folder, 'server/cluster/postgres/migrations.ts'), SHARED_STEP)
  await addStep(path.join(folder, 'server/library/catalog/store/migrations.ts'), CATALOG_STEP)
  // Decoders run as another user.
  await chmod(folder, 0o755)
}

async function addStep(file: string, statements: readonly string[]): Promise<void> {
  const text = await readFile(file, 'utf8')
  const end = text.indexOf('\n]\n', text.indexOf('const steps'))
  if (end === -1) throw new Error(`${file} has no steps`)
  const step = `\n  ${JSON.stringify(statements)},`
  await writeFile(file, text.slice(0, end) + step + text.slice(end))
}
