// The icons of the player's controls: strokes on a grid of 24.
const PATHS = {
  previous: 'M6 5v14M19 5 9 12l10 7z',
  next: 'M18 5v14M5 5l10 7-10 7z',
  speed: 'M5 18a9 9 0 1 1 14 0M12 14l4-5',
  audio: 'M4 10v4h4l5 4V6L8 10zM16 9a4 4 0 0 1 0 6M19 6a9 9 0 0 1 0 12',
  subtitles: 'M3 6h18v12H3zM7 14h5M15 14h2M7 10h2M12 10h5',
  link: 'M9 17H8A5 5 0 0 1 8 7h1M15 7h1a5 5 0 0 1 0 10h-1M8 12h8',
  done: 'm5 13 4 4L19 7',
  theatre: 'M3 6h18v12H3z',
  keyboard: 'M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8',
  live: 'm5 6 7 6-7 6zM13 6l7 6-7 6z',
  close: 'M6 6l12 12M18 6 6 18',
  replay: 'M4 12a8 8 0 1 0 3-6.2L4 8M4 4v4h4',
} as const

/** Hidden from screen readers: the control has a name of its own. */
export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
