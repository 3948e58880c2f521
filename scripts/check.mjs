// `npm run check`: every gate that needs no build and no browser.
import { runGates } from './gates.mjs'

/** Scripts of package.json, the longest first. */
const gates = ['types', 'lint', 'knip', 'format:check', 'links', 'style']

const results = await runGates(gates)
const failed = results.filter(({ isPassed }) => !isPassed).map(({ gate }) => gate)
process.stdout.write(failed.length === 0 ? 'all gates passed\n' : `failed: ${failed.join(', ')}\n`)
process.exitCode = failed.length === 0 ? 0 : 1
