#!/usr/bin/env -S node --max-semi-space-size=8
// The program's entry: refuses an old Node, in which native modules would end the process by a
// signal. It imports nothing else before, and an old Node must be able to parse it (as of 12).

/** As `engines` in package.json. */
const supportedNode = 24

const found = process.versions.node
if (Number.parseInt(found, 10) >= supportedNode) {
  void import('./app/process.ts')
} else {
  process.stderr.write(`aftercast: Node ${supportedNode} or newer is required, not ${found}\n`)
  process.exitCode = 2
}
