// The arithmetic of the timeline. Pure.

const STEP_SECONDS = 5
const PAGE_SECONDS = 60

/** The position that a key of the slider selects; undefined for other keys. */
export function positionAfterKey(
  key: string,
  { positionSeconds, durationSeconds }: { positionSeconds: number; durationSeconds: number },
): number | undefined {
  const targets = new Map([
    ['ArrowRight', positionSeconds + STEP_SECONDS],
    ['ArrowUp', positionSeconds + STEP_SECONDS],
    ['ArrowLeft', positionSeconds - STEP_SECONDS],
    ['ArrowDown', positionSeconds - STEP_SECONDS],
    ['PageUp', positionSeconds + PAGE_SECONDS],
    ['PageDown', positionSeconds - PAGE_SECONDS],
    ['Home', 0],
    ['End', durationSeconds],
  ])
  const target = targets.get(key)
  return target === undefined ? undefined : clamp(target, durationSeconds)
}

/** The position at a point of the timeline; `clientX` is in pixels of the window. */
export function positionAtPoint(
  clientX: number,
  { left, width }: { left: number; width: number },
  durationSeconds: number,
): number {
  return width > 0 ? clamp(((clientX - left) / width) * durationSeconds, durationSeconds) : 0
}

/** A position as a percentage of the timeline, for CSS. */
export function toPercent(seconds: number, durationSeconds: number): string {
  const share = durationSeconds > 0 ? clamp(seconds, durationSeconds) / durationSeconds : 0
  return `${(share * 100).toFixed(3)}%`
}

function clamp(seconds: number, durationSeconds: number): number {
  return Math.min(Math.max(seconds, 0), durationSeconds)
}
