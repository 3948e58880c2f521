// Code of children in tests, which speak the messages of decoder processes.

const pipe = JSON.stringify(
  new URL('../../server/decode/child/message-pipe.ts', import.meta.url).href,
)

/** A program that runs `onJob`, in which `job` and `send` are defined, for each job. */
export function childCode(onJob: string): string {
  return `
    import { receiveMessages, sendMessage } from ${pipe}
    const send = (message) => sendMessage(process.stdout, message)
    receiveMessages(process.stdin, { onMessage: async (job) => { ${onJob} } })
    process.stdin.on('end', () => process.exit())
    send({ status: 'ready' })`
}
