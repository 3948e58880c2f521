// The transformation matrix of a track (ISO/IEC 14496-12 6.2.2).

const IDENTITY = [0x1_00_00, 0, 0, 0, 0x1_00_00, 0, 0, 0, 0x40_00_00_00]

export function isIdentity(matrix: Int32Array): boolean {
  return IDENTITY.every((value, at) => matrix[at] === value)
}

/**
 * Clockwise rotation in degrees, rounded to quarter turns. The first matrix row is the direction of
 * the frame's x axis; y grows downwards.
 */
export function quarterTurns(matrix: Int32Array): 0 | 90 | 180 | 270 {
  const turns = Math.round(Math.atan2(matrix[1] ?? 0, matrix[0] ?? 1) / (Math.PI / 2))
  switch ((turns + 4) % 4) {
    case 1:
      return 90
    case 2:
      return 180
    case 3:
      return 270
    default:
      return 0
  }
}
