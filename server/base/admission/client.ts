// The client that work is for: the network of a visitor, or the server itself.
import { AsyncLocalStorage } from 'node:async_hooks'
import { isIPv6 } from 'node:net'

/** Scans and other work that no visitor waits for. */
const BACKGROUND = 'background'
/** A client that disconnected before its address was read. */
const UNKNOWN = 'unknown'
/** Longest name of a client. */
export const MAX_KEY_LENGTH = 64

interface Work {
  client: () => string
}

/** Work that others may join. */
interface SharedWork extends Work {
  /** Clients that joined the work. */
  joined: Set<string>
  /** Called with each client that joins the work later. */
  onJoin: Set<(client: string) => void>
  /** The work that started this. */
  outer: Work | SharedWork | undefined
}

const works = new AsyncLocalStorage<Work | SharedWork>()

/** Runs work, and all that it starts, for a client. @param client its name, when it is needed */
export function runForClient<Value>(client: () => string, work: () => Value): Value {
  return works.run({ client }, work)
}

export function currentClient(): string {
  return works.getStore()?.client() ?? BACKGROUND
}

/** Runs work of this client that others may join: each of them calls `join`. */
export function runShared<Value>(work: () => Value): { result: Value; join: () => void } {
  const client = currentClient()
  const shared: SharedWork = {
    client: () => client,
    joined: new Set(),
    onJoin: new Set(),
    outer: works.getStore(),
  }
  const join = (): void => {
    const joining = currentClient()
    shared.joined.add(joining)
    for (const listener of shared.onJoin) listener(joining)
  }
  return { result: works.run(shared, work), join }
}

/**
 * Calls the listener with each client that joined or joins the current work, or work that contains
 * it, until the signal aborts.
 */
export function watchJoins(listener: (client: string) => void, signal: AbortSignal): void {
  for (let work = works.getStore(); work && 'joined' in work; work = work.outer) {
    const { joined, onJoin } = work
    joined.forEach(listener)
    onJoin.add(listener)
    signal.addEventListener('abort', () => onJoin.delete(listener), { once: true })
  }
}

/**
 * The part of an address that one visitor owns: an IPv6 network of 64 bits, as they are assigned
 * (RFC 6177). `X-Forwarded-For` may contain anything; of that, a bounded part.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return UNKNOWN
  if (!isIPv6(address)) return address.slice(0, MAX_KEY_LENGTH)
  const mapped = /^::ffff:(?<v4>\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.groups?.v4
  if (mapped !== undefined) return mapped
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Math.max(8 - before.length - after.length, 0)
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
