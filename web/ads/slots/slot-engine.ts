// Types between the page and the lazily loaded slot engine (start-slots.ts).

export type LayoutSlotName = 'header' | 'sidebar' | 'footer'
export type ListSlotName = 'list' | 'recommended'
export type SlotName = LayoutSlotName | ListSlotName

/** The part of the configuration that the slots use. */
export interface SlotSettings {
  /** URL of the ad script. */
  scriptUrl: string
  /** Class of every placeholder. */
  insClass: string
  /** Zone id of each slot; a slot without one is not rendered. */
  zones: Partial<Record<SlotName, string>>
  /** What fills a block: an embedded frame, or any creative. */
  fill: 'frame' | 'creative'
}

/** The rendered elements of one ad block. */
export interface AdBlockElements {
  /** Hidden if no ad arrives. */
  block: HTMLElement
  /** An empty element inside the block; the ad script writes into it. */
  host: HTMLElement
  slotName: SlotName
  /** Index of the card before the block; 0 in the layout. */
  cardIndex: number
}

/** Each function that starts something returns its undo. */
export interface SlotEngine {
  /** Fills a block rendered at `renderedAtMs` (`performance.now()`); hides it if it stays empty. */
  addBlock(elements: AdBlockElements, renderedAtMs: number): () => void
  /** Hides all empty blocks now, instead of 5 s after they were rendered. */
  hideUnfilled(): void
  /** Call after each load of a list. */
  afterList(): () => void
  /** Call after each route change. */
  afterRoute(): () => void
}
