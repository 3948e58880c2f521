// Scales a decoded image down, rotates it upright and converts it to 8-bit 4:2:0,
// BT.601.
import { FilterGraph } from 'node-av/lib'
import type { Frame } from 'node-av/lib'
import { buildChain, runChain, TRANSPOSE } from './filter-chain.ts'
import { fitImage } from './fit-image.ts'
import type { ImageBounds, ImageShape } from './fit-image.ts'

export interface ScaleOptions {
  rotationDegrees: ImageShape['rotationDegrees']
  range: 'full' | 'limited'
  bounds: ImageBounds
  /** `area` costs less, and is as good for very small images. */
  scaler: 'bicubic' | 'area'
}

/** AVColorSpace values that the scaler supports; a bitstream can contain any value. */
const KNOWN_MATRICES = new Set<number>([1, 4, 5, 6, 7, 9])
const UNKNOWN_MATRIX = 2

/**
 * Returns a new image, which the caller disposes of. HDR is reduced to 8 bits without tone mapping.
 */
export function scaleUpright(image: Frame, options: ScaleOptions): Frame {
  const size = fitImage(shapeOf(image, options.rotationDegrees), options.bounds)
  using graph = new FilterGraph()
  graph.alloc()
  const targetSize = `w=${size.width}:h=${size.height}`
  const chain = buildChain(graph, [
    ['buffer', sourceArguments(image)],
    [
      'scale',
      `${targetSize}:flags=${options.scaler}:out_range=${options.range}:out_color_matrix=bt601`,
    ],
    ['setsar', 'sar=1'],
    ...TRANSPOSE[options.rotationDegrees],
    ['format', `pix_fmts=${options.range === 'full' ? 'yuvj420p' : 'yuv420p'}`],
    ['buffersink', ''],
  ])
  image.pts = 0n
  return runChain(chain, image)
}

/** The shape of a decoded image. */
export function shapeOf(
  { width, height, sampleAspectRatio: { num, den } }: Frame,
  rotationDegrees: ImageShape['rotationDegrees'],
): ImageShape {
  return { width, height, pixelAspect: num > 0 && den > 0 ? num / den : 1, rotationDegrees }
}

/** Of the filter `buffer`. */
export function sourceArguments(image: Frame): string {
  const matrix = KNOWN_MATRICES.has(image.colorSpace) ? image.colorSpace : UNKNOWN_MATRIX
  image.colorSpace = matrix as typeof image.colorSpace
  const shape = `video_size=${image.width}x${image.height}:pix_fmt=${image.format}`
  return `${shape}:time_base=1/1:colorspace=${matrix}:range=${image.colorRange}`
}
