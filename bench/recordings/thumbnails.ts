// `npm run bench -- thumbnails`: first thumbnails of recordings, eight requests at once, compared
// with ffmpeg.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  utimesSync,
} from 'node:fs'
import path from 'node:path'
import { thumbnailApiPath } from '../../shared/paths.ts'
import { startServer } from '../../test/support/servers/start-server.ts'
import type { StartedServer } from '../../test/support/servers/start-server.ts'
import { loadForgetFile } from './cold-file.ts'
import type { ForgetFile } from './cold-file.ts'
import { watchOthers } from '../disturbance.ts'
import {
  describeMachine,
  hasProgram,
  readEndedChildrenSeconds,
  readProcessSeconds,
} from '../machine.ts'
import { ensureMedia } from '../make-media.ts'
import { DISTURBED_SHARE } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { formatTable, median } from '../table.ts'

const AT_ONCE = 8
const RECORDINGS = { real: 48, smoke: 2 } as const
/** Short, for they are as many; a key frame of a longer one is as far away. */
const MEDIA_SECONDS = 30
/** Where the server takes the first candidate, as a share of the length. */
const PLACE = 0.1
const DAY = { streamer: 'bench', date: '2026-01-31' }
const MADE_SECONDS = 1_769_900_000

interface Sample {
  perSecond: number
  cpuMilliseconds: number
  othersShare: number
}

interface Recordings {
  folder: string
  files: string[]
}

/** Prints the table. */
export async function benchThumbnails(options: BenchOptions): Promise<void> {
  const forget = loadForgetFile()
  const recordings = await makeRecordings(options)
  const scratch = mkdtempSync(path.join(options.cache, 'thumbnails-'))
  const data = path.join(scratch, 'data')
  const environment = { AFTERCAST_WORKERS: '1' }
  const args = [recordings.folder, '--data', data]
  const server = await startServer({ args, environment })
  const ours: Sample[] = []
  const theirs: Sample[] = []
  try {
    // The first time everything is indexed, and the decoder started: neither is measured.
    await askForAll(server, recordings)
    for (let round = 0; round < options.rounds; round += 1) {
      forgetAll(recordings, forget)
      rmSync(path.join(data, 'thumbnails'), { recursive: true })
      const work = (): Promise<void> => askForAll(server, recordings)
      ours.push(await measure(work, recordings, () => readProcessSeconds(server.pid)))
      if (!hasProgram('ffmpeg')) continue
      forgetAll(recordings, forget)
      const render = (): Promise<void> => renderAll(recordings, scratch)
      theirs.push(await measure(render, recordings, readEndedChildrenSeconds))
    }
  } finally {
    await server.stop()
    rmSync(scratch, { recursive: true, force: true })
  }
  for (const line of report(ours, theirs, options)) console.log(line)
}

/** The same packets in every file, followed by a box of another size: distinct recordings. */
async function makeRecordings(options: BenchOptions): Promise<Recordings> {
  const plan = { ...options, mediaSeconds: MEDIA_SECONDS, encodedSeconds: options.isSmoke ? 2 : 10 }
  const { name, outputs } = await ensureMedia(plan, ['mp4'])
  const count = options.isSmoke ? RECORDINGS.smoke : RECORDINGS.real
  const folder = path.join(options.cache, `thumbnails-${name}-${count}`)
  const day = path.join(folder, DAY.streamer, DAY.date)
  const files = Array.from({ length: count }, (_, i) => path.join(day, `${i}.mp4`))
  const [source] = outputs
  if (source === undefined) throw new Error('no recording was made')
  const done = path.join(folder, '.made')
  if (existsSync(done)) return { folder, files }
  mkdirSync(day, { recursive: true })
  for (const [i, file] of files.entries()) {
    copyFileSync(source.path, file)
    const box = Buffer.alloc(8 + i)
    box.writeUInt32BE(box.length)
    box.write('free', 4)
    appendFileSync(file, box)
    utimesSync(file, MADE_SECONDS, MADE_SECONDS)
  }
  mkdirSync(done)
  return { folder, files }
}

function forgetAll({ files }: Recordings, forget: ForgetFile | undefined): void {
  for (const file of files) forget?.(file)
}

/** Runs the jobs, AT_ONCE of them at a time. */
async function runAll(jobs: (() => Promise<void>)[]): Promise<void> {
  const lanes = Array.from({ length: AT_ONCE }, async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await job()
  })
  await Promise.all(lanes)
}

function askForAll(server: StartedServer, { files }: Recordings): Promise<void> {
  return runAll(
    files.map((_, i) => async () => {
      const url = server.url + thumbnailApiPath({ ...DAY, sessionId: String(i) })
      const response = await fetch(url, { headers: { accept: 'image/webp' } })
      const { length } = Buffer.from(await response.arrayBuffer())
      const type = response.headers.get('content-type')
      if (response.status !== 200 || type !== 'image/webp' || length === 0) {
        throw new Error(`${response.status} for ${url}`)
      }
    }),
  )
}

function renderAll({ files }: Recordings, scratch: string): Promise<void> {
  const place = String(MEDIA_SECONDS * PLACE)
  return runAll(
    files.map((file, i) => async () => {
      const image = path.join(scratch, `${i}.webp`)
      const output = ['-frames:v', '1', '-vf', 'scale=640:-2', image]
      const args = ['-v', 'error', '-y', '-ss', place, '-i', file, ...output]
      const [code] = await once(spawn('ffmpeg', args, { stdio: 'ignore' }), 'exit')
      if (code !== 0) throw new Error(`ffmpeg ended with ${String(code)}`)
    }),
  )
}

async function measure(
  work: () => Promise<void>,
  { files }: Recordings,
  readCpu: () => number,
): Promise<Sample> {
  const othersShare = watchOthers()
  const cpu = readCpu()
  const started = performance.now()
  await work()
  const seconds = (performance.now() - started) / 1000
  return {
    perSecond: files.length / seconds,
    cpuMilliseconds: ((readCpu() - cpu) / files.length) * 1000,
    othersShare: othersShare(),
  }
}

function report(ours: Sample[], theirs: Sample[], { rounds }: BenchOptions): string[] {
  const speed = (samples: Sample[]): number => median(samples.map(({ perSecond }) => perSecond))
  const rows = [
    { name: 'ours', samples: ours },
    { name: 'ffmpeg', samples: theirs },
  ].filter(({ samples }) => samples.length > 0)
  const ratio = (speed(ours) / speed(theirs)).toFixed(2)
  return [
    ...describeMachine([]),
    [
      `${rounds} rounds; medians. *: rounds in which others used over`,
      `${DISTURBED_SHARE * 100} % of the processors`,
    ].join(' '),
    ...formatTable([
      ['thumbnails', 'a second', 'best', 'CPU ms each', '*'],
      ...rows.map(({ name, samples }) => [
        name,
        speed(samples).toFixed(1),
        Math.max(...samples.map(({ perSecond }) => perSecond)).toFixed(1),
        median(samples.map(({ cpuMilliseconds }) => cpuMilliseconds)).toFixed(0),
        String(samples.filter(({ othersShare }) => othersShare > DISTURBED_SHARE).length),
      ]),
    ]),
    ...(theirs.length > 0
      ? ['', `${ratio}x as many a second as ffmpeg.`]
      : ['ffmpeg is not installed.']),
  ]
}
