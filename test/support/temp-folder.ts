// Temporary folders of tests.
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterTests } from './after-tests.ts'

/** A new folder, which is removed after the tests of the file. */
export function makeTempFolder(name: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), `aftercast-${name}-`))
  afterTests(async () => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
