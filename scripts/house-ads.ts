// Wording and colours of the included house ads.

/** A banner: an HTML page that fits a row and a box. */
export interface Banner {
  id: string
  title: string
  line: string
  call: string
  weight: number
  /** Colours of the sky, from dark to light. */
  sky: [string, string, string]
}

/** A pre-roll; house-film.js describes the colours. */
export interface Film {
  id: string
  title: string
  line: string
  call: string
  sky: string[]
  sun: string
  hills: string[]
}

export const banners: Banner[] = [
  {
    id: 'your-ad-here',
    title: 'Your ad here',
    line: 'This place is yours until a network fills it.',
    call: 'See how',
    weight: 2,
    sky: ['#2a0f1f', '#a8401f', '#ffb26b'],
  },
  {
    id: 'missed-it-live',
    title: 'Missed it live?',
    line: 'Every stream is here, from the first minute to the last.',
    call: 'Catch up',
    weight: 3,
    sky: ['#141432', '#4a4f9c', '#c9a9e6'],
  },
  {
    id: 'night-shift',
    title: 'Night shift',
    line: 'Last night’s streams, ready when you are.',
    call: 'Browse',
    weight: 3,
    sky: ['#06202b', '#1f6f73', '#9be8c7'],
  },
  {
    id: 'front-row',
    title: 'A seat in the front row',
    line: 'No queue, no account: press play.',
    call: 'Take a seat',
    weight: 3,
    sky: ['#2b1238', '#8a3a6e', '#f5a3a3'],
  },
]

export const films: Film[] = [
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
