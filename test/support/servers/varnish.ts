// Starts Varnish with the documented configuration, for a server of a test.
import { chmod, copyFile, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findProgram } from '../../../scripts/programs.mjs'
import { startProxy } from './start-proxy.ts'
import type { StartedProxy } from './start-proxy.ts'

const FOLDER = path.resolve(import.meta.dirname, '../../../docs/deploy')

const PROGRAM = { program: findProgram('Varnish'), debianPackage: 'varnish' }

/** Listens on `port`, for a server or two nodes at these URLs. Rejects if it does not start. */
export async function startVarnish(
  port: number,
  backends: readonly [string] | readonly [string, string],
  { withEgressLimits = false } = {},
): Promise<StartedProxy> {
  const listen = `127.0.0.1:${port}`
  const configure = async (folder: string): Promise<string[]> => {
    const file = path.join(folder, 'varnish.vcl')
    const site = await readConfiguration(backends.map((url) => new URL(url).port))
    const limits = path.join(folder, 'varnish-egress.vcl')
    await copyFile(path.join(FOLDER, 'varnish-egress.vcl'), limits)
    const include = withEgressLimits ? `include "${limits}";` : ''
    await writeFile(file, site.replace('vcl 4.1;', `vcl 4.1;\n${include}`))
    // Varnish compiles the configuration as another user.
    await chmod(folder, 0o755)
    const run = path.join(folder, 'run')
    return ['-F', '-n', run, '-f', file, '-a', listen, '-s', 'malloc,64m', '-T', 'none']
  }
  return startProxy({ ...PROGRAM, url: `http://${listen}`, configure })
}

/** As documented, with other ports. */
async function readConfiguration([first, second]: string[]): Promise<string> {
  const single = await readFile(path.join(FOLDER, 'varnish.vcl'), 'utf8')
  if (second === undefined) return single.replace('"8080"', `"${first}"`)
  const several = await readFile(path.join(FOLDER, 'varnish-nodes.vcl'), 'utf8')
  const nodes = several.replace('"8081"', `"${first}"`).replace('"8082"', `"${second}"`)
  return single.replace(/^backend default \{.*?^\}$/ms, nodes)
}
