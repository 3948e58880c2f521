// Where the chat is: beside the stage where there is room, else below the controls.
import type { SessionChat } from './use-chat.ts'

/** Makes room for the chat, as tall as the stage, and follows its size. Returns the undo. */
export function placeChat(
  video: HTMLVideoElement,
  isRoomBeside: SessionChat['isRoomBeside'],
): () => void {
  const stage = video.parentElement
  const player = stage?.parentElement
  if (!stage || !player) return () => undefined
  const place = (): void => {
    player.dataset['chat'] = isRoomBeside(video) ? 'beside' : 'below'
    const { bottom, top } = stage.getBoundingClientRect()
    // Several views may be in rows, between the stage and its controls.
    const below = stage.nextElementSibling
    const margin = below ? Number.parseFloat(getComputedStyle(below).marginBlockStart) : 0
    const end = below ? below.getBoundingClientRect().top - margin : bottom
    player.style.setProperty('--stage-height', `${end - top}px`)
  }
  place()
  const observer = new ResizeObserver(place)
  observer.observe(stage)
  observer.observe(player)
  return () => {
    observer.disconnect()
    delete player.dataset['chat']
    player.style.removeProperty('--stage-height')
  }
}
