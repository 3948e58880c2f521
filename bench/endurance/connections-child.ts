// Misbehaving clients in their own process: each opens a connection, sends some bytes, and reads
// slowly or not at all.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** What the clients do. */
export interface ConnectionsPlan {
  port: number
  connections: number
  /** Connection number n sends the text at n, modulo their number. */
  requests: string[]
  /** What each sends every second after that. */
  trickle?: string
  /** Bytes that each reads every half second. */
  readBytes?: number
}

/** Sent periodically: the connections that were opened. */
export interface ConnectionsReport {
  opened: number
}

const REPORT_MS = 250
/** Connections that are opened without a pause: a listener's queue has few more. */
const BURST = 100

const report: ConnectionsReport = { opened: 0 }

// connections.ts is the only sender and shares the type.
process.once('message', (plan) => void openAll(plan as ConnectionsPlan))

async function openAll(plan: ConnectionsPlan): Promise<void> {
  // The listener may be gone by then, and this process ends a moment later.
  setInterval(() => process.send?.(report, undefined, undefined, () => undefined), REPORT_MS)
  process.once('disconnect', () => process.exit())
  for (let number = 0; number < plan.connections; number += 1) {
    open(number, plan)
    if (number % BURST === 0) await sleep(10)
  }
}

function open(number: number, { port, requests, trickle, readBytes }: ConnectionsPlan): void {
  const socket = connect(port, '127.0.0.1', () => {
    report.opened += 1
    socket.write(requests[number % requests.length] ?? '')
  })
  socket.pause()
  socket.on('error', () => undefined)
  const timers = [
    trickle !== undefined && setInterval(() => socket.write(trickle), 1000),
    readBytes !== undefined && setInterval(() => socket.read(readBytes), 500),
  ]
  socket.once('close', () => timers.forEach((timer) => timer && clearInterval(timer)))
}
