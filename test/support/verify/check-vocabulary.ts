// Checks JSON-LD against the vocabulary of schema.org, by compiling it as values of its types.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

/**
 * What the compiler reports of types and properties that do not exist; '' if all do. The first
 * value is on line 2.
 */
export async function vocabularyProblems(data: readonly object[]): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'aftercast-vocabulary-'))
  try {
    await symlink(path.resolve('node_modules'), path.join(folder, 'node_modules'))
    const lines = data.map(
      (value, at) => `export const v${at}: WithContext<Thing> = ${JSON.stringify(value)}`,
    )
    const code = ["import type { Thing, WithContext } from 'schema-dts'", ...lines]
    await writeFile(path.join(folder, 'data.ts'), code.join('\n'))
    return await compile(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** As a program, because this version of TypeScript has no API. */
async function compile(folder: string): Promise<string> {
  const compiler = path.resolve('node_modules/typescript/bin/tsc')
  const flags = ['--noEmit', '--strict', '--types', '', '--module', 'nodenext', 'data.ts']
  return promisify(execFile)(process.execPath, [compiler, ...flags], { cwd: folder }).then(
    ({ stdout }) => stdout,
    (error: unknown) => String(error instanceof Error ? Reflect.get(error, 'stdout') : error),
  )
}
