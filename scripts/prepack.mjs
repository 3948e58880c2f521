// Before `npm pack`: prepares the clone, and builds what the package contains.
import { PrepareError, ensureBuilt, ensureInstalled, npm } from './prepare.mjs'

try {
  await ensureInstalled()
  await ensureBuilt()
  await npm(['run', '--silent', 'build:server'])
} catch (error) {
  if (!(error instanceof PrepareError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error.exitCode
}
