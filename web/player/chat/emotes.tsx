// Emotes in messages: words that parts of one image replace, once it is loaded.
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { CSSProperties, ReactNode } from 'react'
import type { ChatIndexResponse } from '../../../shared/contract.ts'
import type { ChatSource } from './chat-source.ts'
import styles from './chat-panel.module.css'

/** The style of each word that is an emote. */
export type Emotes = ReadonlyMap<string, CSSProperties>

/** Pixels of the image in a CSS pixel. */
const SCALE = 2

/** Undefined without emotes, and until their image is loaded. */
export function useEmotes(source: ChatSource): Emotes | undefined {
  const state = useSyncExternalStore(source.subscribe, source.read)
  const served = state.status === 'loaded' ? state.value.emotes : undefined
  const [emotes, setEmotes] = useState<Emotes>()
  useEffect(() => {
    if (!served) return undefined
    const image = new Image()
    image.src = source.urlOf(`${served.version}/emotes.webp`)
    image.onload = () => setEmotes(styleEmotes(served, image.src))
    return () => void (image.onload = null)
  }, [source, served])
  return emotes
}

function styleEmotes(
  { width, height, list }: NonNullable<ChatIndexResponse['emotes']>,
  url: string,
) {
  const px = (pixels: number): string => `${pixels / SCALE}px`
  return new Map(
    list.map((emote): [string, CSSProperties] => [
      emote.name,
      {
        inlineSize: px(emote.width),
        blockSize: px(height),
        background: `url("${url}") ${px(-emote.x)} ${px(-emote.y)} / ${px(width)}`,
      },
    ]),
  )
}

/** A text, whose emotes can still be copied and read aloud. */
export function EmoteText({ text, emotes }: { text: string; emotes: Emotes | undefined }) {
  const nodes: ReactNode[] = []
  let plain = ''
  for (const [nth, word] of text.split(' ').entries()) {
    const style = emotes?.get(word)
    if (nth > 0) plain += ' '
    if (style) {
      nodes.push(
        plain,
        <span key={nth} className={styles.emote} style={style} title={word}>
          {word}
        </span>,
      )
      plain = ''
    } else plain += word
  }
  return [...nodes, plain]
}
