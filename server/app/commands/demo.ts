// `aftercast demo`: writes the demo library into a folder.
import { dirname, resolve } from 'node:path'
import { hasDecoderPackage } from '../../decode/child/decoder-package.ts'
import { createDemoLibrary } from '../../demo/demo-library.ts'
import { makeFolder } from '../../storage/recordings/make-folder.ts'
import type { Io } from '../io.ts'

/** Creates the library unless it exists; returns the exit code 0. */
export async function demo(folder: string, io: Io): Promise<number> {
  // Its own attempt reports why there is no parent.
  await makeFolder(dirname(resolve(folder))).catch(() => undefined)
  const outcome = await createDemoLibrary(folder, {
    onProgress: io.stderr,
    signal: io.signal,
    hasEncoders: hasDecoderPackage(),
  })
  io.stdout(
    outcome === 'made' ? `The demo library is in ${folder}` : `${folder} already contains it`,
  )
  return 0
}
