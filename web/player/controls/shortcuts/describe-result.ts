// What a shortcut has done, in a few words.
import { formatMoment } from '../../../ui/format-moment.ts'
import { formatStep } from '../format-step.ts'
import { formatRate } from '../speed-menu.tsx'
import { subtitleTracks } from '../tracks/subtitle-choice.ts'
import { translate } from '../../../language/translate.ts'
import type { Command } from './shortcuts.ts'

/** The words for a command that has run; empty if its result is in sight. */
export function describeResult(command: Command, video: HTMLVideoElement): string {
  switch (command.name) {
    case 'toggle':
      return translate(video.paused ? 'Paused' : 'Playing')
    case 'seek by':
      return formatStep(command.seconds)
    case 'seek to':
      return formatMoment(video.currentTime)
    case 'faster':
    case 'slower':
      return formatRate(video.playbackRate)
    case 'mute':
      return translate(video.muted ? 'Muted' : 'Sound on')
    case 'subtitles':
      return describeSubtitles(video)
    case 'step':
    case 'fullscreen':
    case 'theatre':
    case 'help':
    case 'next':
    case 'previous':
      return ''
  }
}

function describeSubtitles(video: HTMLVideoElement): string {
  const tracks = subtitleTracks(video)
  if (tracks.length === 0) return translate('No subtitles')
  const isShown = tracks.some(({ mode }) => mode === 'showing')
  return translate(isShown ? 'Subtitles on' : 'Subtitles off')
}
