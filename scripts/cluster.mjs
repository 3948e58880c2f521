// `npm run cluster`: prepares the clone, then starts the cluster of cluster.ts.
import { spawn } from 'node:child_process'
import path from 'node:path'
import { PrepareError, ensureBuilt, ensureInstalled, findRuntime, root } from './prepare.mjs'

try {
  await ensureInstalled()
  const runtime = findRuntime()
  await ensureBuilt()
  const child = spawn(runtime, [path.join(root, 'scripts', 'cluster.ts')], { stdio: 'inherit' })
  // The terminal sends SIGINT to both; this process waits for the end of the other one.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.once('exit', (code) => {
    process.exitCode = code ?? 1
  })
} catch (error) {
  if (!(error instanceof PrepareError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
