// The quality that is played: the visitor's choice, or what this browser and the server can do.
import { useEffect, useState } from 'react'
import { translate } from '../language/translate.ts'
import { savePreferences } from './preferences.ts'
import { play, seekTo } from './controls/commands.ts'
import type { Quality } from './controls/tracks/quality-menu.tsx'
import { describeMissingCodec } from './playback/describe-codec.ts'
import type { Playback } from './playback/playback.ts'
import { SOUND_ONLY } from './playback/playlist.ts'
import { usePlayback } from './playback/use-playback.ts'
import { parseLinkedRange } from './visit/linked-range.ts'

interface ChosenQuality {
  /** Id; empty for the original. */
  quality: string
  hasPicture: boolean
  /** Why another quality is played than the one that was chosen, or none. */
  note: string | undefined
  /** Continues in another quality, and remembers it. */
  selectQuality(this: void, id: string): void
}

/** So many responses while the visitor waits: with the server's own wait, up to half a minute. */
const BUSY_LIMIT = 3
/** Ids of qualities with encoded video. */
const ENCODED = /^\d+p$/

/** @param onChange called before the source changes */
export function useQuality(
  playback: Playback,
  qualities: readonly Quality[],
  onChange: () => void,
): ChosenQuality {
  // The engine returns to the original by itself where a session lacks a quality.
  const quality = usePlayback(playback, () => playback.playlist.quality)
  const [, setChosen] = useState(quality)
  const [note, setNote] = useState<string>()
  const [hasOriginal, setHasOriginal] = useState(true)
  const codec = usePlayback(playback, (state) => state.codec)
  const isEncoded = ENCODED.test(quality)
  const encoded = qualities.find(({ id }) => ENCODED.test(id))
  const fallback = codec === undefined || isEncoded ? undefined : encoded

  function continueIn(id: string): void {
    onChange()
    const { phase, positionSeconds } = playback.read()
    // The browser lacks the codec of the one before.
    const isStuck = phase === 'undecodable'
    if (isStuck) playback.report({ type: 'reopened' })
    playback.playlist.select({ quality: id })
    if (isStuck) playFromKnown(playback, positionSeconds)
    // The state of playback may not change.
    setChosen(id)
  }

  function selectQuality(id: string): void {
    continueIn(id)
    savePreferences({ quality: id })
    setNote(undefined)
  }

  // Until another quality is played, nothing has sought to the linked moment.
  useEffect(() => {
    const { positionSeconds, durationSeconds = 0 } = playback.read()
    const { startSeconds = 0 } = parseLinkedRange(location.search)
    if (codec === undefined || positionSeconds > 0) return
    if (startSeconds > 0 && startSeconds < durationSeconds) seekTo(playback, startSeconds)
  }, [playback, codec])

  useEffect(() => {
    if (codec === undefined || fallback === undefined) return
    setHasOriginal(false)
    const playing = translate('Playing {quality}.', { quality: fallback.label })
    setNote(`${describeMissingCodec(codec)} ${playing}`)
    continueIn(fallback.id)
    // oxlint-disable-next-line react/exhaustive-deps -- once for each missing codec
  }, [codec, fallback])

  useEffect(() => {
    let responses = 0
    playback.playlist.onBusy = () => {
      responses = isEncoded && playback.read().isStalled ? responses + 1 : 0
      if (responses < BUSY_LIMIT) return
      if (hasOriginal) {
        setNote(translate('The server is too busy for this quality. Playing the original.'))
        continueIn('')
      } else setNote(translate('The server is busy. Trying again…'))
    }
    // oxlint-disable-next-line react/exhaustive-deps -- the functions of any render are alike
  }, [playback, isEncoded, hasOriginal])

  return { quality, hasPicture: quality !== SOUND_ONLY, note, selectQuality }
}

/** Plays. Seeks once the duration is known: a session starts at 0 with its first metadata. */
function playFromKnown(playback: Playback, seconds: number): void {
  play(playback.video)
  const stop = playback.subscribe(() => {
    if (playback.read().durationSeconds === undefined) return
    stop()
    if (seconds > 0) seekTo(playback, seconds)
  })
}
