// Starts Varnish with the documented configuration, for a server of a test.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findVarnish } from '../../../scripts/find/find-varnish.mjs'
import { waitUntilHealthy } from './wait-until-healthy.ts'

const CONFIGURATION = path.resolve(import.meta.dirname, '../../../docs/deploy/varnish.vcl')

export interface StartedVarnish {
  url: string
  stop(): Promise<void>
}

/** Listens on `port`, for the server at `backend`. Rejects if it does not start. */
export async function startVarnish(port: number, backend: string): Promise<StartedVarnish> {
  const program = findVarnish()
  if (program === undefined) throw new Error('there is no Varnish: apt-get install varnish')
  const folder = await mkdtemp(path.join(tmpdir(), 'aftercast-varnish-'))
  const configuration = path.join(folder, 'varnish.vcl')
  const text = await readFile(CONFIGURATION, 'utf8')
  await writeFile(configuration, text.replace('"8080"', `"${new URL(backend).port}"`))
  // Varnish compiles the configuration as another user.
  await chmod(folder, 0o755)
  const listen = `127.0.0.1:${port}`
  const args = ['-F', '-n', path.join(folder, 'run'), '-f', configuration, '-a', listen]
  const child = spawn(program, [...args, '-s', 'malloc,64m', '-T', 'none'], { stdio: 'pipe' })
  const url = `http://${listen}`
  await waitUntilHealthy(url, child)
  return {
    url,
    stop: async () => {
      child.kill()
      if (child.exitCode === null) await once(child, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
