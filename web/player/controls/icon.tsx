// The icons of the player's controls: strokes on a grid of 24.
const PATHS = {
  previous: 'M6 5v14M19 5 9 12l10 7z',
  next: 'M18 5v14M5 5l10 7-10 7z',
  speed: 'M5 18a9 9 0 1 1 14 0M12 14l4-5',
  // Headphones: a speaker would be the volume.
  audio: 'M4 15v-3a8 8 0 0 1 16 0v3M4 14h3v6H4zM17 14h3v6h-3z',
  // The letters CC.
  subtitles: 'M3 5h18v14H3zM10.5 10.4a2 2 0 1 0 0 3.2M17 10.4a2 2 0 1 0 0 3.2',
  // Two sliders.
  quality:
    'M3 7h9M18 7h3M15 4a3 3 0 1 1 0 6 3 3 0 0 1 0-6' +
    'M3 17h3M12 17h9M9 14a3 3 0 1 1 0 6 3 3 0 0 1 0-6',
  // A speech bubble.
  chat: 'M4 5h16v11h-9l-5 4v-4H4zM8 9h8M8 12.5h5',
  link: 'M9 17H8A5 5 0 0 1 8 7h1M15 7h1a5 5 0 0 1 0 10h-1M8 12h8',
  share: 'M12 15V4M8 7.5 12 4l4 3.5M5 12v8h14v-8',
  done: 'm5 13 4 4L19 7',
  theatre: 'M2 5h20v14H2zM9 9.5 6.5 12 9 14.5M15 9.5l2.5 2.5-2.5 2.5M7 12h10',
  keyboard: 'M2 6h20v12H2zM6 10h.01M10 10h.01M14 10h.01M18 10h.01M6 14h.01M18 14h.01M10 14h4',
  live: 'm5 6 7 6-7 6zM13 6l7 6-7 6z',
  close: 'M6 6l12 12M18 6 6 18',
  replay: 'M4 12a8 8 0 1 0 3-6.2L4 8M4 4v4h4',
} as const

/** Hidden from screen readers: the control has a name of its own. */
export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={2}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
