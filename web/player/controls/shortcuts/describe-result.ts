// What a shortcut has done, in a few words.
import { formatMoment } from '../../../ui/format-moment.ts'
import { subtitleTracks } from '../tracks/subtitle-choice.ts'
import type { Command } from './shortcuts.ts'

/** The words for a command that has run; empty if its result is in sight. */
export function describeResult(command: Command, video: HTMLVideoElement): string {
  switch (command.name) {
    case 'toggle':
      return video.paused ? 'Paused' : 'Playing'
    case 'seek by':
      return `${command.seconds < 0 ? '−' : '+'}${Math.abs(command.seconds)} s`
    case 'seek to':
      return formatMoment(video.currentTime)
    case 'faster':
    case 'slower':
      return `${video.playbackRate}×`
    case 'mute':
      return video.muted ? 'Muted' : 'Sound on'
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
  if (tracks.length === 0) return 'No subtitles'
  return tracks.some(({ mode }) => mode === 'showing') ? 'Subtitles on' : 'Subtitles off'
}
