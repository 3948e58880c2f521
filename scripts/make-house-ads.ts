// Generates the pre-rolls of the included house ads, drawn in Chromium and encoded as H.264.
import { rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { chromium, type Page } from '@playwright/test'
import {
  AV_PIX_FMT_RGBA,
  AV_PIX_FMT_YUV420P,
  FF_ENCODER_LIBX264,
  SWS_BICUBIC,
} from 'node-av/constants'
import { Encoder, Muxer } from 'node-av/api'
import { FFmpegError, Frame, Rational, SoftwareScaleContext } from 'node-av/lib'
import { z } from 'zod'
import { findProgram } from './programs.mjs'

const root = path.dirname(import.meta.dirname)
const folder = path.join(root, 'server/site/ads/creatives')
const width = 960
const height = 540
const framesPerSecond = 25
const seconds = 6
const largestFilmBytes = 300_000

/** A pre-roll; house-film.js describes the colours. */
interface Film {
  id: string
  title: string
  line: string
  call: string
  sky: string[]
  sun: string
  hills: string[]
}

const films: Film[] = [
  {
    id: 'after-the-stream',
    title: 'After the stream',
    line: 'The show is over. The recording stays.',
    call: 'Browse streamers',
    sky: ['#1c0d2e', '#7a2f63', '#ff9a6b'],
    sun: '#ffd9a0',
    hills: ['#6d2a58', '#43193f', '#1d0c22'],
  },
  {
    id: 'your-film-here',
    title: 'Your film here',
    line: 'Six seconds before the main programme.',
    call: 'See how',
    sky: ['#04202c', '#0f6275', '#a5e6c8'],
    sun: '#f7ffe6',
    hills: ['#17616a', '#0c3c47', '#051d25'],
  },
]

const executablePath = findProgram('Chromium')
if (executablePath === undefined) throw new Error('The pre-rolls need Chromium.')
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  const page = await browser.newPage()
  await page.addScriptTag({ path: path.join(import.meta.dirname, 'house-film.js') })
  for (const film of films) await makeFilm(page, film)
} finally {
  await browser.close()
}

async function makeFilm(page: Page, film: Film): Promise<void> {
  const file = path.join(folder, `${film.id}.mp4`)
  await rm(file, { force: true })
  const encoder = await Encoder.create(FF_ENCODER_LIBX264, {
    context: { framerate: new Rational(framesPerSecond, 1), gopSize: framesPerSecond * 2 },
    options: { preset: 'slow', crf: 25, profile: 'main', threads: 'auto', refs: 3 },
  })
  const muxer = await Muxer.open(file, { options: { movflags: '+faststart', fflags: '+bitexact' } })
  const stream = muxer.addStream(encoder)
  const write = async () => {
    for (let packet = await encoder.receive(); packet; packet = await encoder.receive()) {
      using written = packet
      await muxer.writePacket(written, stream)
    }
  }
  using scaler = createScaler()
  for (let number = 0; number < seconds * framesPerSecond; number += 1) {
    using frame = toPlanar(scaler, await drawFrame(page, film, number))
    frame.pts = BigInt(number)
    await encoder.encode(frame)
    await write()
  }
  await encoder.encode(null)
  await write()
  await muxer.close()
  encoder.close()
  const { size } = await stat(file)
  console.log(`${film.id}: ${size} bytes`)
  if (size > largestFilmBytes) throw new Error(`${film.id} is larger than ${largestFilmBytes}`)
}

/** RGBA bytes of one frame. */
async function drawFrame(page: Page, film: Film, number: number): Promise<Buffer> {
  const time = number / (seconds * framesPerSecond - 1)
  const drawn: unknown = await page.evaluate(`drawPicture(${JSON.stringify(film)}, ${time})`)
  return Buffer.from(z.string().parse(drawn), 'base64')
}

function createScaler(): SoftwareScaleContext {
  const scaler = new SoftwareScaleContext()
  const [from, to] = [AV_PIX_FMT_RGBA, AV_PIX_FMT_YUV420P]
  scaler.getContext(width, height, from, width, height, to, SWS_BICUBIC)
  return scaler
}

function toPlanar(scaler: SoftwareScaleContext, rgba: Buffer): Frame {
  using frame = Frame.fromVideoBuffer(rgba, { width, height, format: AV_PIX_FMT_RGBA })
  const planar = new Frame()
  planar.alloc()
  planar.width = width
  planar.height = height
  planar.format = AV_PIX_FMT_YUV420P
  planar.timeBase = new Rational(1, framesPerSecond)
  FFmpegError.throwIfError(planar.getBuffer(0), 'allocate frame')
  FFmpegError.throwIfError(scaler.scaleFrameSync(planar, frame), 'convert colours')
  return planar
}
