// A relay before PostgreSQL whose connections can become silent, as behind a firewall that has
// lost its state, and whose held bytes can arrive late.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'

export interface SilentRelay {
  /** The URL of the same database through the relay. */
  through(url: string): string
  /** From now on, present connections deliver nothing, and do not end. Later ones work. */
  silence(): void
  /** The same, of the first connection whose client sends this text, from there on. */
  silenceAt(text: string): void
  /** Ends the silent connections on the side of the client only. */
  disconnectClients(): void
  /** Delivers what the clients of silent connections had sent; resolves with the response. */
  deliver(): Promise<void>
  /** Bytes of clients that were not delivered. */
  heldBytes(): number
  stop(): Promise<void>
}

interface Connection {
  client: Socket
  server: Socket
  isSilent: boolean
  held: Buffer[]
}

/** @param port of PostgreSQL on loopback */
export async function startSilentRelay(port: number): Promise<SilentRelay> {
  const connections: Connection[] = []
  let trigger: string | undefined
  const silent = (): Connection[] => connections.filter(({ isSilent }) => isSilent)
  const listener = createServer((client) => {
    const server = connect(port, '127.0.0.1')
    const connection: Connection = { client, server, isSilent: false, held: [] }
    connections.push(connection)
    client.on('data', (bytes) => {
      if (trigger !== undefined && bytes.includes(trigger)) {
        trigger = undefined
        connection.isSilent = true
      }
      if (connection.isSilent) connection.held.push(bytes)
      else server.write(bytes)
    })
    server.on('data', (bytes) => {
      if (!connection.isSilent) client.write(bytes)
    })
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => undefined)
      one.on('close', () => {
        if (!connection.isSilent) other.destroy()
      })
    }
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('the relay has no port')
  return {
    through(url) {
      const relayed = new URL(url)
      relayed.port = String(address.port)
      return relayed.href
    },
    silence() {
      for (const connection of connections) connection.isSilent = true
    },
    silenceAt(text) {
      trigger = text
    },
    disconnectClients() {
      for (const { client } of silent()) client.destroy()
    },
    async deliver() {
      for (const { server, held } of silent()) {
        const responded = once(server, 'data')
        server.write(Buffer.concat(held.splice(0)))
        await responded
      }
    },
    heldBytes: () => silent().reduce((sum, { held }) => sum + Buffer.concat(held).byteLength, 0),
    async stop() {
      for (const { client, server } of connections) {
        client.destroy()
        server.destroy()
      }
      listener.close()
      await once(listener, 'close')
    },
  }
}
