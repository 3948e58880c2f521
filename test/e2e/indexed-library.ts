// The library of the browser tests and the data of a server that has indexed it. Made once, before
// all tests.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { layOutLibrary } from './library.ts'

export interface IndexedLibrary {
  /** Read-only: all servers share it. */
  library: string
  /** To be copied by each server. */
  data: string
}

/** Name of the variable that passes the folder to Playwright's worker processes. */
const folderVariable = 'AFTERCAST_E2E_LIBRARY'
const mainFile = path.resolve(import.meta.dirname, '../../server/main.ts')

export function indexedLibrary(): IndexedLibrary {
  const folder = process.env[folderVariable]
  if (folder === undefined) throw new Error('the global setup of the browser tests did not run')
  return { library: path.join(folder, 'library'), data: path.join(folder, 'data') }
}

/** Playwright's global setup. Returns the teardown. */
export default async function makeIndexedLibrary(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'aftercast-e2e-'))
  process.env[folderVariable] = folder
  const { library, data } = indexedLibrary()
  await layOutLibrary(library)
  await promisify(execFile)(process.execPath, [mainFile, 'scan', library, '--data', data])
  return () => rm(folder, { recursive: true, force: true })
}
