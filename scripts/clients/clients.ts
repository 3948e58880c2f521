// The clients of `npm run clients`, and their commands. Each writes the audio that it receives to a
// file: players decoded, downloaders with the video.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, createWriteStream, openSync, readFileSync } from 'node:fs'
import { findPrograms } from '../programs.mjs'
import type { ClientSet } from '../programs.mjs'
import type { Session } from './sessions.ts'

/** Of a client that hangs. */
const LIMIT_MS = 180_000

/** What a client plays. */
export interface Source {
  session: Session
  isEncrypted: boolean
  playlistUrl: string
  pageUrl: string
  /** Receives the audio, in any container. */
  out: string
}

export interface Client {
  set: ClientSet
  /** Arguments, separated by spaces; an array if one contains a space. */
  words(this: void, source: Source): string | string[]
  /** Why it does not play the session; undefined if it does. */
  knownFailure?(this: void, source: Source): string | undefined
  /** Why it plays the session only sometimes; then neither result is wrong. */
  sometimesFails?(this: void, source: Source): string | undefined
  /** It opens its output once per part, so this is no file. */
  writesToStdout?: true
  /** Gets the page, which has no quality but the original. */
  playsPage?: true
  /** Begins a growing session near its end, like a live stream. */
  joinsLive?: true
}

/** By the names in the table. */
export const CLIENTS: Record<string, Client> = {
  VLC: {
    set: 'VLC',
    // Faster than real time (`--sout`), it sometimes leaves out segments.
    words: ({ playlistUrl }) =>
      '-I dummy --play-and-exit --vout=dummy --aout=afile --audiofile-file=- ' + playlistUrl,
    writesToStdout: true,
    knownFailure: ({ session }) =>
      hasInitPerPart(session) ? 'it loads no second init segment' : undefined,
    sometimesFails: ({ session, isEncrypted }) =>
      session.quality === 'saver' && isEncrypted
        ? 'it may end early, on a busy machine'
        : undefined,
    joinsLive: true,
  },
  mpv: {
    set: 'mpv',
    // Faster than real time, it stalls where timestamps restart, unless it makes them continue.
    words: ({ playlistUrl, out }) =>
      '--no-config --vo=null --untimed --demuxer-lavf-linearize-timestamps=yes ' +
      `--demuxer-lavf-o=live_start_index=0 --ao=pcm --ao-pcm-file=${out} ${playlistUrl}`,
    knownFailure: ({ session }) =>
      session.quality === 'audio' && hasInitPerPart(session)
        ? 'it ends after the first part of audio alone'
        : undefined,
  },
  playbin: {
    ...playbin('playbin'),
    knownFailure: decryptsInit,
    sometimesFails: ({ session }) =>
      (session.growsAs !== undefined && session.form === 'fmp4') || session.quality === 'saver'
        ? 'it may stall although it has loaded the whole session'
        : undefined,
    joinsLive: true,
  },
  playbin3: { ...playbin('playbin3'), knownFailure: decryptsInit, joinsLive: true },
  hlsdemux: {
    set: 'GStreamer',
    words: ({ playlistUrl, out, session }) =>
      `-q souphttpsrc location=${playlistUrl} ! hlsdemux ! decodebin name=d ` +
      `d. ! audioconvert ! queue ! wavenc ! filesink location=${out}` +
      (session.quality === 'audio' ? '' : ' d. ! videoconvert ! queue ! fakesink sync=false'),
    knownFailure: decryptsInit,
    joinsLive: true,
  },
  ffmpeg: {
    set: 'FFmpeg',
    words: ({ playlistUrl, out }) =>
      `-v error -live_start_index 0 -i ${playlistUrl} -c copy -f matroska ${out}`,
  },
  streamlink: {
    set: 'streamlink',
    words: ({ playlistUrl, out }) => `--hls-live-restart -o ${out} ${playlistUrl} best`,
    knownFailure: decryptsInit,
  },
  'yt-dlp': ytDlp(({ playlistUrl }) => playlistUrl),
  'yt-dlp, page': { ...ytDlp(({ pageUrl }) => pageUrl), playsPage: true },
}

function playbin(element: string): Pick<Client, 'set' | 'words'> {
  return {
    set: 'GStreamer',
    words: ({ playlistUrl, out }) => [
      '-q',
      element,
      `uri=${playlistUrl}`,
      'video-sink=fakesink sync=false',
      `audio-sink=audioconvert ! wavenc ! filesink location=${out}`,
    ],
  }
}

/** Its own downloader takes only the segments of the first playlist that it reads. */
function ytDlp(urlOf: (source: Source) => string): Client {
  const following = ['--downloader=ffmpeg', '--downloader-args=ffmpeg_i:-live_start_index 0']
  return {
    set: 'yt-dlp',
    words: (source) => [
      '--quiet',
      '--no-part',
      ...(source.session.growsAs === undefined ? [] : following),
      '-o',
      source.out,
      urlOf(source),
    ],
    knownFailure: ({ session }) =>
      hasInitPerPart(session) ? 'its own downloader takes no second init segment' : undefined,
  }
}

function hasInitPerPart({ form, fixtures }: Session): boolean {
  return form === 'fmp4' && fixtures.length > 1
}

function decryptsInit({ session, isEncrypted }: Source): string | undefined {
  return isEncrypted && session.form === 'fmp4' ? 'it decrypts the clear init segment' : undefined
}

/** Runs a client to its end. Returns its exit code, null after the limit, and all its output. */
export async function runClient(
  { set, words, writesToStdout }: Client,
  source: Source,
  signal: AbortSignal,
): Promise<{ code: number | null; log: string }> {
  const program = findPrograms(set)?.program
  if (program === undefined) throw new Error(`${set} is missing`)
  const listed = words(source)
  const args = typeof listed === 'string' ? listed.split(' ') : listed
  const logFile = `${source.out}.log`
  const log = openSync(logFile, 'w')
  const child = spawn(program, args, {
    stdio: ['ignore', writesToStdout ? 'pipe' : log, log],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
    signal,
  })
  closeSync(log)
  child.stdout?.pipe(createWriteStream(source.out))
  await once(child, 'close')
  return { code: child.exitCode, log: readFileSync(logFile, 'utf8') }
}
