// `npm run bench -- page-plays` and its kin: the built page in a real browser, run by a program
// that may speak of documents.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { findChromium } from '../scripts/find/find-chromium.mjs'
import type { BenchOptions } from './options.ts'

const PROGRAM = path.resolve(import.meta.dirname, 'page/run-page.ts')

/** What of the page is measured. */
export type PageBenchName =
  | 'page-lists'
  | 'page-plays'
  | 'page-away'
  | 'page-hours'
  | 'page-lighthouse'

/** Prints the table of one of them; rejects where it could not be measured. */
export async function benchPage(name: PageBenchName, options: BenchOptions): Promise<void> {
  if (findChromium() === undefined) {
    console.log(`${name}: there is no Chromium on this machine`)
    return
  }
  const child = fork(PROGRAM, [name, JSON.stringify(options)])
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the benchmark ${name} could not be run`)
}
