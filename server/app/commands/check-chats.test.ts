import { afterAll, expect, it } from 'vitest'
import { bytesFile } from '../../../test/support/bytes-file.ts'
import { twitchJson } from '../../../test/support/make/make-chat.ts'
import { createChatReader } from '../../decode/chat/chat-reader.ts'
import type { SessionRow } from '../../library/catalog/catalog.ts'
import { addRefusedChats } from './check-chats.ts'

const { signal } = new AbortController()
const open = async () =>
  Promise.resolve(bytesFile(Buffer.from(twitchJson([{ seconds: 1, user: 'Bob', text: 'hi' }]))))
/** No process has so little memory. */
const killed = createChatReader({ open }, { limits: { residentBytes: 2 ** 20 } })
afterAll(() => killed.close())

it.runIf(process.platform === 'linux')('reports a chat that ends the process', async () => {
  const path = 'alice/2026-01-31/1001.ts'
  const row = { path, streamer: 'alice', date: '2026-01-31', sessionId: '1001' } as SessionRow
  const stat = { sizeBytes: 1, modifiedMs: 0, version: '1' }
  const library = {
    catalog: {
      listStreamers: () => [{ name: 'alice', recording_count: 1 }],
      countSessions: () => 1,
      sessionsAt: () => [row],
    },
    chatFiles: {
      find: async () =>
        Promise.resolve([{ path: 'alice/2026-01-31/1001.json', stat, part: undefined }]),
    },
    readChat: async (job: Parameters<typeof killed.read>[0]) => killed.read(job, signal),
  }
  const [found] = await addRefusedChats([], library as never, signal)
  expect(found).toMatchObject({
    path,
    outcome: 'limited',
    problems: [
      {
        code: 'chat-not-served',
        part: '1001.json',
        cause: { code: 'reader-ended' },
        message: expect.stringContaining('needed too much memory or time'),
      },
    ],
  })
})
