// SQLite files below ROOT in memory: connections of one path share one database. On a file, locks
// take more time than statements.
import type Sqlite from 'better-sqlite3'
import { createRequire, Module } from 'node:module'
import { ROOT } from './memory-files.ts'

type Statement = Sqlite.Statement<unknown[]>

interface MemoryFile {
  sqlite: Sqlite.Database
  /** The connection whose statement runs. */
  user: Connection | undefined
  /** By their text. */
  statements: Map<string, Statement>
}

/** Connections see the triggers of others, so each has a condition: whose statement runs. */
const TEMPORARY_TRIGGER = /CREATE TEMP TRIGGER ([^]+?) BEGIN/g
const OWN_TRIGGER = 'CREATE TEMP TRIGGER IF NOT EXISTS $1 WHEN has_triggers() BEGIN'

const require = createRequire(import.meta.url)
const RealSqlite: typeof Sqlite = require('better-sqlite3')
const files = new Map<string, MemoryFile>()

/** Once per process, before the modules of the product are loaded. */
export function simulateSqlite(): void {
  const file = require.resolve('better-sqlite3')
  // The loaded one retains its exports.
  require.cache[file] = Object.assign(new Module(file), { exports: Connection, loaded: true })
}

export function existsInMemory(path: string): boolean {
  return files.has(path)
}

export function copyInMemory(from: string, to: string): void {
  files.set(to, openFile(files.get(from)?.sqlite.serialize()))
}

/** Removes all but one. */
export function clearMemory(kept: string): void {
  for (const [path, { sqlite }] of files) {
    if (path === kept) continue
    sqlite.close()
    files.delete(path)
  }
}

/** The part of the driver that the product uses. */
class Connection {
  readonly #file: MemoryFile
  #hasTriggers = false
  #isOpen = true

  constructor(path: string, options?: Sqlite.Options) {
    this.#file = files.get(path) ?? openFile()
    if (!path.startsWith(ROOT)) return Object(new RealSqlite(path, options))
    files.set(path, this.#file)
  }

  get hasTriggers(): boolean {
    return this.#hasTriggers
  }

  prepare(text: string): Pick<Statement, 'all' | 'get' | 'run' | 'pluck'> {
    const { sqlite, statements } = this.#file
    const statement = statements.get(text) ?? sqlite.prepare<unknown[]>(text)
    statements.set(text, statement)
    const run = <T>(work: () => T): T => this.#use(work)
    return {
      all: (...values) => run(() => statement.all(...values)),
      get: (...values) => run(() => statement.get(...values)),
      run: (...values) => run(() => statement.run(...values)),
      pluck: () => sqlite.prepare<unknown[]>(text).pluck(),
    }
  }

  exec(text: string): void {
    this.#hasTriggers ||= TEMPORARY_TRIGGER.test(text)
    this.#use(() => this.#file.sqlite.exec(text.replaceAll(TEMPORARY_TRIGGER, OWN_TRIGGER)))
  }

  pragma(text: string, options?: Sqlite.PragmaOptions): unknown {
    return this.#file.sqlite.pragma(text, options)
  }

  transaction(work: (...values: unknown[]) => unknown): unknown {
    return this.#file.sqlite.transaction(work)
  }

  close(): void {
    this.#isOpen = false
  }

  #use<T>(work: () => T): T {
    if (!this.#isOpen) throw new TypeError('The database connection is not open')
    this.#file.user = this
    return work()
  }
}

function openFile(content?: Buffer): MemoryFile {
  const sqlite = new RealSqlite(content ?? ':memory:')
  const file: MemoryFile = { sqlite, user: undefined, statements: new Map() }
  sqlite.function('has_triggers', () => (file.user?.hasTriggers === true ? 1 : 0))
  return file
}
