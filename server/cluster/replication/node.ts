// One node of a cluster: follows the shared database, or scans and publishes what it finds. Outages
// of the database stop neither reads nor the scan.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../../base/errors.ts'
import type { RecordingPath } from '../../library/catalog/store/recording-columns.ts'
import {
  claimScan,
  continueAfter,
  describeLibrary,
  readLibrary,
  releaseScan,
  renewScan,
} from '../postgres/library-row.ts'
import type { SharedLibrary } from '../postgres/library-row.ts'
import { hasTables } from '../postgres/migrations.ts'
import { pruneDeletions } from '../postgres/shared-recordings.ts'
import { followHidden } from './follow-hidden.ts'
import { follow, needsSnapshot } from './follow.ts'
import type { Following } from './follow.ts'
import type { NodeFigures, NodeOptions, Scan } from './node-options.ts'
import { addDifferences, contribute, discardOutbox, publishOutbox } from './publish.ts'

const FOLLOW_EVERY_MS = 1000
const PUBLISH_EVERY_MS = 500
/** Longest pause while the database is down. */
const MAX_PAUSE_MS = 5000
const RENEW_EVERY_MS = 5000
const PRUNE_EVERY_MS = 3_600_000
const BATCHES_PER_TURN = 20
/** SQLSTATE. */
const UNDEFINED_TABLE = '42P01'
const RECREATE_AFTER_MS = 30_000
/** How long the end of a process waits for the database. */
const END_TIMEOUT_MS = 3000

interface CurrentScan extends Scan {
  stopping: AbortController
  isWalked: boolean
  hasEnded: boolean
}

export class ClusterNode {
  readonly #options: NodeOptions
  readonly #following: Following
  /** First part of all tokens of the present scan. */
  #claim = ''
  /** With what it publishes; another one after each failure. */
  #token = ''
  #scan: CurrentScan | undefined
  #library: SharedLibrary | undefined
  #isPrepared = false
  #isDown = false
  /** Since then, the database has no tables. */
  #missingSinceMs: number | undefined
  #currentAtMs = performance.now()
  #renewedAtMs = 0
  #prunedAtMs = performance.now()
  readonly #current = Promise.withResolvers<'scanning' | 'following'>()
  readonly #walked = Promise.withResolvers<void>()
  readonly #hidesApplied = Promise.withResolvers<void>()

  constructor(options: NodeOptions) {
    this.#options = options
    const { database, replica, onProblem } = options
    const onInvalid = (rows: number): void => onProblem({ kind: 'invalid', rows })
    this.#following = { database, replica, onInvalid, snapshot: undefined }
  }

  /** Resolves when the node has all changes, and the decision whether it scans is made. */
  get current(): Promise<'scanning' | 'following'> {
    return this.#current.promise
  }

  /** Resolves when the catalog is usable: some node has walked the library, hidden names apply. */
  get firstWalk(): Promise<void> {
    return Promise.all([this.#walked.promise, this.#hidesApplied.promise]).then(() => undefined)
  }

  figures(): NodeFigures {
    const generation = this.#library?.generation ?? 0
    return {
      isDatabaseUp: !this.#isDown,
      isScanning: this.#scan !== undefined,
      isLibraryUsable: this.#isLibraryUsable,
      lagGenerations: Math.max(0, generation - (this.#options.replica.state()?.generation ?? 0)),
      lagMs: performance.now() - this.#currentAtMs,
      outbox: this.#options.outbox.count(),
    }
  }

  /** Runs until the signal aborts; then publishes the rest and releases the scan. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { hideDatabase, hidden, onProblem } = this.#options
    const hiding = followHidden({
      database: hideDatabase,
      hidden,
      onApplied: () => this.#hidesApplied.resolve(),
      onFailure: (error) => onProblem({ kind: 'hides-late', error }),
      signal,
    })
    await this.#replicate(signal)
    await hiding
  }

  async #replicate(signal: AbortSignal): Promise<void> {
    // What an earlier process has replicated can be served without the database.
    if ((this.#options.replica.state()?.generation ?? 0) > 0) void this.#serveAfterOutage(signal)
    const { random = Math.random } = this.#options
    let pauseMs = 0
    while (!signal.aborted) {
      // Nodes whose database has failed at the same moment return one after the other.
      let jitter = 1
      try {
        const isComplete = await this.#turn(signal)
        pauseMs = !isComplete ? 0 : this.#scan ? PUBLISH_EVERY_MS : FOLLOW_EVERY_MS
        if (isComplete) this.#currentAtMs = performance.now()
        if (this.#isDown) await this.#recover()
      } catch (error) {
        if (signal.aborted) break
        pauseMs = Math.min(2 * Math.max(pauseMs, PUBLISH_EVERY_MS), MAX_PAUSE_MS)
        jitter = (1 + random()) / 2
        if (!this.#isDown) this.#options.onProblem({ kind: 'down', error })
        this.#isDown = true
        await this.#noteMissingTables(error)
        // A statement that was sent may still arrive: it must not change anything then.
        this.#renewedAtMs = -Infinity
      }
      await sleep(pauseMs * jitter, undefined, { signal }).catch(() => undefined)
    }
    await this.#end()
  }

  async #noteMissingTables(error: unknown): Promise<void> {
    const { database, recreateAfterMs = RECREATE_AFTER_MS } = this.#options
    const isMissing =
      codeOf(error) === UNDEFINED_TABLE &&
      (await hasTables(database).catch(() => undefined)) === false
    this.#missingSinceMs = isMissing ? (this.#missingSinceMs ?? performance.now()) : undefined
    const sinceMs = this.#missingSinceMs ?? Infinity
    if (performance.now() - sinceMs >= recreateAfterMs) this.#isPrepared = false
  }

  async #recover(): Promise<void> {
    const { recover, onProblem } = this.#options
    await recover?.()
    this.#isDown = false
    onProblem({ kind: 'up' })
  }

  /**
   * Resolves once the scan of this node has ended and everything is published; with false if
   * another node scans instead.
   */
  async published(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      signal.throwIfAborted()
      if (this.#scan === undefined) return false
      if (this.#scan.hasEnded && this.#options.outbox.count() === 0) return true
      await sleep(PUBLISH_EVERY_MS / 5, undefined, { signal }).catch(() => undefined)
    }
  }

  async #serveAfterOutage(signal: AbortSignal): Promise<void> {
    const first = this.#current.promise
    while (!signal.aborted && !this.#isDown) {
      const pause = sleep(PUBLISH_EVERY_MS, undefined, { signal }).catch(() => undefined)
      if ((await Promise.race([first, pause])) !== undefined) return
    }
    this.#walked.resolve()
    this.#hidesApplied.resolve()
  }

  /** One exchange with the database. Returns false if there is more to do at once. */
  async #turn(signal: AbortSignal): Promise<boolean> {
    const { database, replica, prepare } = this.#options
    if (!this.#isPrepared) await prepare()
    this.#isPrepared = true
    const library = await readLibrary(database)
    this.#library = library
    const known = replica.state()
    if (known?.identity === library.identity && known.generation > library.generation) {
      await continueAfter(database, known)
      return false
    }
    if (this.#scan !== undefined) {
      const own = library.scanner?.startsWith(this.#claim) ? library.scanner : undefined
      // The response to a renewal may have been lost.
      this.#token = own ?? this.#token
      const isIdle = !this.#scan.hasEnded && this.#hasNothingToScan(library)
      if (own !== undefined && this.#isLibraryUsable && !isIdle) {
        return this.#publish(library, this.#scan)
      }
      await this.#loseScan(own !== undefined && isIdle ? 'scan-idle' : 'scan-lost')
      if (own !== undefined) await releaseScan(database, own)
    }
    if (!(await this.#follow(library, signal))) return false
    const isScanning = library.isVacant && (await this.#tryScan(signal))
    if (library.isWalked) this.#walked.resolve()
    this.#current.resolve(isScanning ? 'scanning' : 'following')
    return !isScanning
  }

  async #follow(library: SharedLibrary, signal: AbortSignal): Promise<boolean> {
    const { database, replica, outbox } = this.#options
    const node = replica.state()?.node
    const isOwnFolder = node !== undefined && library.scanner?.startsWith(`${node} `) === true
    // Another process of this data folder may be scanning: then the outbox is its own.
    if (!isOwnFolder || library.isVacant) await discardOutbox({ database, outbox }, replica)
    return follow(this.#following, library, signal)
  }

  /** Becomes the scanning node if there is none. */
  async #tryScan(signal: AbortSignal): Promise<boolean> {
    const { database, replica, scan, onProblem } = this.#options
    if (scan === undefined || (await this.#options.library?.check()) === false) return false
    const vacant = await readLibrary(database)
    if (this.#hasNothingToScan(vacant)) return false
    const { identity, epoch } = vacant
    if (replica.state() === undefined) replica.moveTo({ identity, epoch, generation: 0 })
    this.#claim = `${replica.state()?.node} ${randomUUID()} `
    this.#token = this.#claim + randomUUID()
    if (!(await claimScan(database, this.#token))) return false
    this.#renewedAtMs = performance.now()
    const library = await readLibrary(database)
    // The last changes of the node that scanned before.
    if (!(await this.#follow(library, signal))) return false
    if (library.layout === null && !(await this.#contribute(library))) return false
    this.#scan = startScan(scan)
    void this.#scan.firstWalk.then(() => this.#walked.resolve())
    onProblem({ kind: 'scan-begins' })
    return true
  }

  /** Publishes the catalog of this node in a database that has none. */
  async #contribute({ identity, epoch, generation }: SharedLibrary): Promise<boolean> {
    const { database, replica, outbox, contribution } = this.#options
    const layout = replica.layout() ?? this.#options.layout
    const given = { ...(await contribution()), layout }
    if (!(await contribute(database, this.#token, given))) return false
    outbox.addAll()
    replica.moveTo({ identity, epoch, generation })
    return true
  }

  /** Publishes changes. */
  async #publish(library: SharedLibrary, scan: CurrentScan): Promise<boolean> {
    const { database, replica, outbox, layout } = this.#options
    const { identity, epoch, generation } = library
    const state = replica.state()
    if (state?.identity !== identity) {
      // The catalog was detached by a process without the shared database, or that was replaced.
      await this.#loseScan()
      await releaseScan(database, this.#token)
      return false
    }
    if (!(await this.#renew())) return false
    if (needsSnapshot(state, library)) {
      if (!(await addDifferences(this.#options, replica, async () => this.#renew()))) return false
    }
    // Recordings up to this generation are this node's own.
    replica.moveTo({ identity, epoch, generation })
    const { isWalked } = scan
    if (!(await this.#publishOutbox(BATCHES_PER_TURN))) return false
    if (isWalked && (!library.isWalked || library.layout !== layout)) {
      if (outbox.count() > 0) return false
      // Not before: a node that takes over earlier must remove what another layout has named.
      await describeLibrary(database, this.#token, { layout, isWalked })
    }
    if (performance.now() - this.#prunedAtMs > PRUNE_EVERY_MS) {
      this.#prunedAtMs = performance.now()
      if (await pruneDeletions(database, this.#token)) this.#prunedAtMs = -Infinity
    }
    return outbox.count() === 0
  }

  /** Extends the claim, if it is time to. Returns false if another process has taken it. */
  async #renew(): Promise<boolean> {
    if (performance.now() - this.#renewedAtMs < RENEW_EVERY_MS) return true
    const next = this.#claim + randomUUID()
    if (!(await renewScan(this.#options.database, this.#token, next))) return false
    this.#token = next
    this.#renewedAtMs = performance.now()
    return true
  }

  async #publishOutbox(batches: number): Promise<boolean> {
    const { database, outbox, replica, onProblem } = this.#options
    const token = this.#token
    const onUnstorable = (path: RecordingPath, error: unknown): void =>
      onProblem({ kind: 'unstorable', path, error })
    // A backup from before this moment must be seen as one, also if it is restored at once.
    const onPublished = (generation: number): void => {
      const state = replica.state()
      if (state !== undefined) replica.moveTo({ ...state, generation })
    }
    return publishOutbox({ database, outbox, token, onUnstorable, onPublished }, batches)
  }

  /**
   * A node whose mount is missing sees an empty library, which is plausible while the catalog is
   * empty. It must not keep the claim from a node that sees recordings.
   */
  #hasNothingToScan({ isWalked, layout }: SharedLibrary): boolean {
    const { library, outbox, ...own } = this.#options
    if (library?.isEmpty !== true || !isWalked || layout !== own.layout) return false
    return outbox.count() === 0
  }

  get #isLibraryUsable(): boolean {
    return this.#options.library?.isUsable ?? true
  }

  async #loseScan(kind: 'scan-lost' | 'scan-idle' = 'scan-lost'): Promise<void> {
    const scan = this.#scan
    this.#scan = undefined
    scan?.stopping.abort()
    await scan?.ended
    this.#options.onProblem({ kind })
  }

  async #end(): Promise<void> {
    const scan = this.#scan
    if (scan === undefined) return
    scan.stopping.abort()
    await scan.ended
    const publishRest = async (): Promise<void> => {
      const isOwn = (await this.#renew()) && (await this.#publishOutbox(Infinity))
      if (isOwn) await releaseScan(this.#options.database, this.#token)
    }
    const timeout = new AbortController()
    await Promise.race([
      publishRest().catch(() => undefined),
      sleep(END_TIMEOUT_MS, undefined, { signal: timeout.signal }).catch(() => undefined),
    ])
    timeout.abort()
  }
}

function startScan(scan: (signal: AbortSignal) => Scan): CurrentScan {
  const stopping = new AbortController()
  const started = scan(stopping.signal)
  const current: CurrentScan = { ...started, stopping, isWalked: false, hasEnded: false }
  void started.firstWalk.then(() => (current.isWalked = true))
  void started.ended.then(() => (current.hasEnded = true))
  return current
}
