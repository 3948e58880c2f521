// The contents of the demo library: streamers, their sessions and looks. A plain value, so that
// tests can use a small one.
import type { SceneName } from './scenes.ts'

export interface DemoStreamer {
  /** Folder name and display name. */
  name: string
  /** Determines the music and every detail of the scenes. */
  seed: number
  /** A poster beside the sessions; without one, the newest session's thumbnail is shown. */
  poster?: DemoStyle
  sessions: DemoSession[]
}

export interface DemoStyle {
  scene: SceneName
  palette: keyof typeof PALETTES
}

export interface DemoSession extends DemoStyle {
  /** `2025-10-04`; the folder's name. */
  date: string
  /** File name without its extension. */
  sessionId: string
  /** `mp4`: index (moov) last; `mp4-fast`: index first; `parts`: a folder of two TS files. */
  container: 'ts' | 'mp4' | 'mp4-fast' | 'parts'
  /** After the usual start in the evening. */
  delayMinutes: number
  /** Even, so that it is a whole number of GOPs. */
  lengthSeconds: number
  /** x264's constant rate factor; long sessions use a larger one. */
  crf: number
}

type Row = [
  date: string,
  sessionId: string,
  container: DemoSession['container'],
  length: number,
  scene: SceneName,
  palette: keyof typeof PALETTES,
  delayMinutes?: number,
]

/** Stops of the colours of scenes. */
export const PALETTES = {
  dusk: ['12082b', '3a1466', '8f2d80', 'e8556d', 'ffb26b', 'fff3c9'],
  ocean: ['02101f', '07364f', '0e6b7d', '29b3a8', '9be8c7', 'f4fff0'],
  ember: ['0d0505', '3c0d0a', '8c1c0e', 'e2501a', 'ffb13d', 'fff4cf'],
  forest: ['04120c', '0d3322', '1f6b3a', '63a83f', 'c8db62', 'fdf8cf'],
  neon: ['05030f', '1d0f4a', '4b1fb0', 'b32fd6', 'ff4fa3', 'a6f6ff'],
  arctic: ['06121f', '173a5c', '3e7ca8', '86bfdb', 'cfe9f0', 'ffffff'],
  candy: ['2a0d2e', '7a1f5c', 'e0457b', 'ff8fa3', 'ffd1c9', 'fff8ef'],
  gold: ['100a04', '3d2508', '8a5610', 'd69a25', 'f6d868', 'fffbe0'],
  aurora: ['030818', '0a2540', '0f6a6c', '2fd28a', 'a58bff', 'f3e8ff'],
  berry: ['0f0418', '34104d', '6c1d73', 'b83a7e', 'f2856f', 'ffe0a8'],
  steel: ['080b10', '1e2733', '42536b', '7d93ab', 'c0cedb', 'f7fafc'],
  citrus: ['0a1a10', '1d5138', '6fa03a', 'e2c22f', 'ff9b3d', 'fff0d6'],
}

/** Longer sessions are encoded smaller, so that the library stays below 300 MB. */
const LONG_SECONDS = 600
const LONG_CRF = 43
const SHORT_CRF = 37

/** The library for a first start without recordings. All names are fictional. */
export const DEMO_PLAN: DemoStreamer[] = [
  streamer({ name: 'AmberWaves', seed: 11 }, [
    ['2025-10-18', '1003', 'mp4-fast', 74, 'hills', 'dusk'],
    ['2025-10-11', '1002', 'ts', 48, 'orbs', 'candy'],
    ['2025-10-11', '1001', 'mp4', 3724, 'blocks', 'ember'],
    ['2025-09-27', '1001', 'ts', 36, 'plasma', 'dusk'],
  ]),
  streamer({ name: 'bytecrafter', seed: 12 }, [
    ['2025-10-19', '2101', 'ts', 52, 'blocks', 'neon'],
    ['2025-10-12', '2101', 'mp4', 94, 'tunnel', 'steel'],
    ['2025-10-05', '2102', 'mp4-fast', 30, 'grid', 'neon'],
    ['2025-10-05', '2101', 'ts', 604, 'blocks', 'steel'],
  ]),
  streamer({ name: 'Captain Kestrel', seed: 13 }, [
    ['2025-10-17', '1', 'mp4', 66, 'runner', 'gold'],
    ['2025-10-10', '1', 'ts', 40, 'warp', 'ocean'],
    ['2025-10-03', '1', 'mp4-fast', 58, 'hills', 'arctic'],
  ]),
  streamer({ name: 'Luna Pixel', seed: 14, poster: { scene: 'hills', palette: 'candy' } }, [
    ['2025-10-20', '512', 'mp4-fast', 44, 'city', 'berry'],
    ['2025-10-16', '511', 'mp4', 62, 'runner', 'candy'],
    ['2025-10-09', '510', 'ts', 34, 'orbs', 'neon'],
    ['2025-10-02', '509', 'mp4', 118, 'blocks', 'candy'],
  ]),
  streamer({ name: 'mossy_oak', seed: 15 }, [
    ['2025-10-15', '77', 'ts', 56, 'hills', 'forest'],
    ['2025-10-08', '76', 'mp4', 82, 'runner', 'forest'],
    ['2025-10-01', '75', 'mp4-fast', 38, 'plasma', 'forest'],
  ]),
  streamer({ name: 'NeonDrift', seed: 16 }, [
    ['2025-10-20', '3004', 'ts', 46, 'grid', 'dusk'],
    ['2025-10-13', '3003', 'mp4-fast', 54, 'warp', 'neon'],
    ['2025-10-06', '3002', 'mp4', 32, 'tunnel', 'neon'],
    ['2025-09-29', '3001', 'ts', 40, 'city', 'neon'],
  ]),
  streamer({ name: 'Old Harbour Radio', seed: 17, poster: { scene: 'bars', palette: 'gold' } }, [
    ['2025-10-11', '4', 'mp4', 1208, 'plasma', 'ocean', 25],
    ['2025-10-07', '3', 'ts', 60, 'bars', 'ocean'],
    ['2025-09-30', '2', 'mp4-fast', 42, 'bars', 'aurora'],
  ]),
  streamer({ name: 'pepper.jack', seed: 18 }, [
    ['2025-10-18', '901', 'mp4-fast', 36, 'runner', 'ember'],
    ['2025-10-04', '900', 'parts', 70, 'blocks', 'citrus'],
    ['2025-09-28', '899', 'mp4', 50, 'orbs', 'citrus'],
  ]),
  streamer({ name: 'QuietCartographer', seed: 19 }, [
    ['2025-10-11', '61', 'ts', 3612, 'plasma', 'gold', 10],
    ['2025-10-05', '60', 'mp4', 64, 'hills', 'gold'],
    ['2025-09-28', '59', 'mp4-fast', 46, 'city', 'gold'],
  ]),
  streamer({ name: 'Sora Skies', seed: 20 }, [
    ['2025-10-19', '8', 'mp4', 38, 'warp', 'arctic'],
    ['2025-10-11', '7', 'ts', 52, 'hills', 'aurora'],
    ['2025-10-03', '6', 'mp4-fast', 110, 'plasma', 'arctic'],
    ['2025-09-26', '5', 'ts', 30, 'grid', 'aurora'],
  ]),
  streamer({ name: 'Tunnelvision', seed: 21 }, [
    ['2025-10-16', '1201', 'mp4-fast', 48, 'tunnel', 'berry'],
    ['2025-10-02', '1200', 'ts', 40, 'tunnel', 'ember'],
    ['2025-09-25', '1199', 'mp4', 606, 'plasma', 'berry'],
  ]),
  streamer({ name: 'vintage_vera', seed: 22, poster: { scene: 'grid', palette: 'berry' } }, [
    ['2025-10-17', '33', 'ts', 42, 'bars', 'candy'],
    ['2025-10-10', '32', 'mp4-fast', 34, 'city', 'dusk'],
    ['2025-10-03', '31', 'mp4', 56, 'grid', 'gold'],
  ]),
  streamer({ name: '\u6708\u591c\u306e\u732b', seed: 23 }, [
    ['2025-10-20', '0002', 'mp4', 58, 'city', 'arctic'],
    ['2025-10-13', '0001', 'ts', 44, 'bars', 'neon'],
    ['2025-10-06', '0001', 'mp4-fast', 32, 'orbs', 'aurora'],
  ]),
]

function streamer(
  names: { name: string; seed: number; poster?: DemoStyle },
  rows: Row[],
): DemoStreamer {
  const sessions = rows.map(
    ([date, sessionId, container, lengthSeconds, scene, palette, delay]) => ({
      date,
      sessionId,
      container,
      lengthSeconds,
      scene,
      palette,
      delayMinutes: delay ?? 0,
      crf: lengthSeconds > LONG_SECONDS ? LONG_CRF : SHORT_CRF,
    }),
  )
  return { ...names, sessions }
}

export function longestSession({ sessions }: DemoStreamer): number {
  return Math.max(0, ...sessions.map(({ lengthSeconds }) => lengthSeconds))
}
