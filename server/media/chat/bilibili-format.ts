// Danmaku of Bilibili: XML as BililiveRecorder, blrec, yt-dlp and others write it. `toast` of blrec
// repeats `guard`.
import type { ChatSink } from './chat-message.ts'
import type { XmlElement } from './record-splitter.ts'
import { parseClock } from './twitch-format.ts'

/** The colour of nearly all messages, which is none. */
const WHITE = 0xffffff

export function readBilibiliRecord(record: unknown, sink: ChatSink): void {
  // The splitter of XML makes nothing else.
  const element = record as XmlElement
  const { name, attributes, text } = element
  const { ts, user, uid: userId } = attributes
  const offsetSeconds = Number(ts)
  switch (name) {
    case 'd':
      return readDanmaku(element, sink)
    case 'sc':
      return sink.message({ offsetSeconds, user, text, kind: 'paid', userId })
    case 'gift': {
      const { giftname = '', giftcount = '1' } = attributes
      const gift = `${giftname} ×${giftcount}`
      return sink.message({ offsetSeconds, user, text: gift, kind: 'paid', userId })
    }
    case 'guard': {
      const { level = '', count = '1', giftname = `Guard ${level}` } = attributes
      const guard = `${giftname} ×${count}`
      return sink.message({ offsetSeconds, user, text: guard, kind: 'member', userId })
    }
    case 'BililiveRecorderRecordInfo':
      return sink.video({ createdMs: parseClock(attributes.start_time) })
    default:
      return undefined
  }
}

/** `p` is `seconds,mode,size,colour,sentMs,pool,uid,id`. */
function readDanmaku({ attributes, text }: XmlElement, sink: ChatSink): void {
  const [seconds, , , color, , , uid] = (attributes.p ?? '').split(',', 8)
  const number = Number(color)
  const hasColor = Number.isInteger(number) && number >= 0 && number < WHITE
  sink.message({
    offsetSeconds: Number(seconds || NaN),
    user: attributes.user ?? uid,
    text,
    ...(hasColor && { color: `#${number.toString(16).padStart(6, '0')}` }),
    userId: uid,
  })
}
