// The entry of the embedded player: the video of one session with its pre-roll, for pages of other
// sites. It has neither the layout of the site nor the library of its components.
import {
  activityApiPath,
  configApiPath,
  parseSessionPath,
  playerPagePath,
  playlistApiPath,
  thumbnailApiPath,
  withoutTrailingSlashes,
} from '../shared/paths.ts'
import type { SessionReference } from '../shared/paths.ts'
import { createAnalytics } from './analytics/analytics.ts'
import { parsePageConfig } from './api/page-config.ts'
import { Resource } from './api/resource.ts'
import { readBasePath } from './base-path.ts'
import { openLanguage } from './language/open-language.ts'
import { translate } from './language/translate.ts'
import { describeMissingCodec } from './player/playback/describe-codec.ts'
import { playSession } from './player/engine/play-session.ts'
import { isRefusal } from './player/playback/playback-state.ts'
import { createVideoElement } from './player/video-element.ts'
import type { AutoplayAudio } from './player/visit/autoplay.ts'
import { enterSession, loadStart } from './player/visit/enter-session.ts'
import { parseLinkedRange } from './player/visit/linked-range.ts'
import './styles/stage-tokens.css'
import './embed.css'

const CONFIG_TIMEOUT_MS = 30_000

const basePath = readBasePath()
const base = withoutTrailingSlashes(import.meta.env.VITE_API_BASE ?? basePath)
const session = parseSessionPath(location.pathname)
const stage = document.getElementById('stage')
/** The video does not wait for it. */
const language = openLanguage()
if (stage && session) start(stage, session)
else if (stage) void showUnavailable(stage)

function start(stage: HTMLElement, session: SessionReference): void {
  const video = createVideoElement()
  video.poster = base + thumbnailApiPath(session)
  video.setAttribute('aria-label', document.title)
  stage.append(video)
  showTitle(stage, video, session)
  const config = new Resource(loadConfig, { maxAgeMs: Infinity })
  const range = parseLinkedRange(location.search)
  const { playback, end } = playSession(video, base + playlistApiPath(session), {
    findStart: async (signal) => loadStart(config, range, signal),
    // There is no menu to choose another one.
    quality: '',
  })
  const leave = enterSession({
    playback,
    stage,
    config,
    range,
    onAudio: (audio) => offerUnmute(stage, video, audio),
  })
  playback.subscribe(() => {
    const { codec, phase } = playback.read()
    if (codec !== undefined) void showNote(stage, codec)
    if (!isRefusal(phase)) return
    leave()
    end()
    void showUnavailable(stage)
  })
  const analytics = createAnalytics({
    config: config.settled(new AbortController().signal).then((loaded) => loaded.analytics),
    activityUrl: base + activityApiPath,
  })
  const track = () => analytics.track({ name: 'begin_video', session })
  video.addEventListener('playing', track, { once: true })
}

/** Without a response there are no ads and no analytics. */
async function loadConfig(signal: AbortSignal) {
  const timeout = AbortSignal.timeout(CONFIG_TIMEOUT_MS)
  const body: unknown = await fetch(base + configApiPath, {
    signal: AbortSignal.any([signal, timeout]),
  })
    .then((response) => response.json())
    .catch(() => undefined)
  return parsePageConfig(body, base)
}

/** Over the video while it is paused: a link to the moment on the page of the session. */
function showTitle(stage: HTMLElement, video: HTMLVideoElement, session: SessionReference): void {
  const link = document.createElement('a')
  link.target = '_blank'
  link.textContent = document.title
  const heading = document.createElement('h1')
  heading.translate = false
  heading.append(link)
  stage.append(heading)
  const update = () => {
    const seconds = Math.floor(video.currentTime)
    link.href = basePath + playerPagePath(session) + (seconds > 0 ? `?t=${seconds}` : '')
    stage.toggleAttribute('data-paused', video.paused)
  }
  for (const type of ['play', 'pause', 'seeked', 'emptied']) video.addEventListener(type, update)
  update()
}

function offerUnmute(stage: HTMLElement, video: HTMLVideoElement, audio: AutoplayAudio): void {
  stage.querySelector(':scope > button')?.remove()
  if (audio !== 'muted') return
  const button = document.createElement('button')
  button.textContent = translate('Unmute')
  button.addEventListener('click', () => {
    video.muted = false
    // The button disappears, and its focus with it.
    video.focus({ preventScroll: true })
  })
  stage.append(button)
}

async function showNote(stage: HTMLElement, codec: string): Promise<void> {
  await language
  const note = stage.querySelector(':scope > p') ?? document.createElement('p')
  note.role = 'status'
  note.textContent = describeMissingCodec(codec)
  stage.append(note)
}

async function showUnavailable(stage: HTMLElement): Promise<void> {
  await language
  const link = document.createElement('a')
  link.href = `${basePath}/`
  link.target = '_blank'
  link.textContent = translate('Watch others')
  const heading = document.createElement('h1')
  heading.textContent = translate('This session is not available.')
  const note = document.createElement('section')
  note.append(heading, link)
  stage.replaceChildren(note)
}
