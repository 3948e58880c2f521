// The formats of chat files: how each is recognised, split into records, and read.
import type { ChatSink } from './chat-message.ts'
import { readBilibiliRecord } from './bilibili-format.ts'
import { JsonRecords, LineRecords } from './json-records.ts'
import { readCapturedRecord, readIrcLine, readJsonLine } from './live-formats.ts'
import type { OnRecord, RecordSplitter } from './record-splitter.ts'
import { readTwitchRecord } from './twitch-format.ts'
import { TwitchRecords } from './twitch-records.ts'
import { XmlRecords } from './xml-records.ts'
import { readYoutubeRecord } from './youtube-format.ts'

export interface ChatFormat {
  /**
   * Which time of a message counts if the start of the recording is known: `clock` when it was
   * sent; `video` as well, for a chat that belongs to another recording of the stream; `offset`
   * its position, because the recorder wrote both files or no time of 0 is known.
   */
  time: 'clock' | 'video' | 'offset'
  /** @param head the start of the file */
  matches(this: void, head: string): boolean
  split(this: void, onRecord: OnRecord): RecordSplitter
  read(this: void, record: unknown, sink: ChatSink): void
}

/** Characters at the start of a file by which its format is recognised. */
export const HEAD_LENGTH = 64 * 1024

const splitJson = (onRecord: OnRecord): RecordSplitter => new JsonRecords(onRecord)
const splitJsonLines = (onRecord: OnRecord): RecordSplitter => new LineRecords('json', onRecord)

/** The first that matches counts. */
const formats: readonly ChatFormat[] = [
  {
    time: 'offset',
    matches: (head) => /^\s*\{/.test(head) && /"replayChatItemAction"\s*:/.test(head),
    split: splitJsonLines,
    read: readYoutubeRecord,
  },
  {
    time: 'video',
    matches: (head) =>
      /^\s*\{/.test(head) &&
      /"comments"\s*:\s*\[/.test(head) &&
      (/"content_offset_seconds"\s*:/.test(head) || /"streamer"\s*:\s*\{/.test(head)),
    split: (onRecord) => new TwitchRecords(onRecord),
    read: readTwitchRecord,
  },
  {
    time: 'video',
    matches: (head) => /^\s*\{/.test(head) && /"content_offset_seconds"\s*:/.test(head),
    split: splitJsonLines,
    read: readTwitchRecord,
  },
  {
    time: 'clock',
    matches: (head) =>
      /^\s*\[/.test(head) &&
      /"(?:message_type|author)"\s*:/.test(head) &&
      /"message"\s*:/.test(head),
    split: splitJson,
    read: readCapturedRecord,
  },
  {
    time: 'clock',
    matches: (head) => /^\s*\{[^\n]*"message_type"\s*:/.test(head),
    split: splitJsonLines,
    read: readCapturedRecord,
  },
  {
    time: 'clock',
    // The first line may describe the file.
    matches: (head) =>
      /^\s*\{/.test(head) && /"t"\s*:\s*"\d{4}-/.test(head) && /"(?:msg|type)"\s*:/.test(head),
    split: splitJsonLines,
    read: readJsonLine,
  },
  {
    time: 'offset',
    matches: (head) =>
      /^\s*<(?:\?xml|i>)/.test(head) && /<(?:d p=|chatserver>|BililiveRecorder)/.test(head),
    split: (onRecord) => new XmlRecords(onRecord),
    read: readBilibiliRecord,
  },
  {
    time: 'clock',
    matches: (head) => head.startsWith('@') && /[@;]tmi-sent-ts=\d/.test(head),
    split: (onRecord) => new LineRecords('text', onRecord),
    read: readIrcLine,
  },
]

/** Undefined if the file is no chat. */
export function findChatFormat(head: string): ChatFormat | undefined {
  return formats.find((format) => format.matches(head))
}
