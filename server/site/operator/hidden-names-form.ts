// The form that hides names: reads its body within a limit, and parses it.
import type { IncomingMessage } from 'node:http'
import { MAX_REASON_LENGTH, parseNameToHide } from '../../../shared/name-to-hide.ts'
import type { NameToHide } from '../../../shared/name-to-hide.ts'

/** What an operator has entered. */
export interface HiddenNamesForm {
  token: string
  action: 'hide' | 'unhide'
  /** Undefined if it has another form than that of names. */
  name: NameToHide | undefined
  reason: string
}

const MAX_BODY_BYTES = 4096

/** The body as text; undefined once it exceeds 4 KiB. Rejects if the client disconnects. */
export async function readForm(request: IncomingMessage): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return undefined
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    sizeBytes += bytes.length
    if (sizeBytes > MAX_BODY_BYTES) return undefined
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Undefined if a field is missing or too long. */
export function parseHiddenNamesForm(body: string): HiddenNamesForm | undefined {
  const fields = new URLSearchParams(body)
  const action = fields.get('action')
  const token = fields.get('token')
  const reason = (fields.get('reason') ?? '').trim()
  if (action !== 'hide' && action !== 'unhide') return undefined
  if (token === null || reason.length > MAX_REASON_LENGTH) return undefined
  const listed = fields.get('listed')
  const name = listed === null ? parseNameToHide(fields.get('name') ?? '') : decodeListed(listed)
  return { token, action, name, reason }
}

/** A name of the list, whose parts are percent-encoded. */
function decodeListed(text: string): NameToHide | undefined {
  const name = parseNameToHide(text)
  if (name === undefined) return undefined
  try {
    const streamer = decodeURIComponent(name.streamer)
    if (name.kind === 'streamer') return { kind: 'streamer', streamer }
    const date = decodeURIComponent(name.date)
    return { kind: 'session', streamer, date, sessionId: decodeURIComponent(name.sessionId) }
  } catch {
    return undefined
  }
}
