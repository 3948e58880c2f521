import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { contrastOf, nameColor, readableOn, SURFACES } from './name-color.ts'

test('measures the contrast of WCAG 2.2', () => {
  expect(contrastOf('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
})

test('makes every colour readable on both surfaces, and hardly more than needed', () => {
  const channels = ['00', '2f', '80', 'bf', 'ff']
  const colors = channels.flatMap((r) => channels.flatMap((g) => channels.map((b) => r + g + b)))
  for (const color of colors.map((hex) => `#${hex}`)) {
    for (const surface of Object.values(SURFACES)) {
      const readable = readableOn(color, surface)
      expect(readable).toMatch(/^#[\da-f]{6}$/)
      const contrast = contrastOf(readable, surface)
      expect(contrast, `${color} on ${surface}`).toBeGreaterThanOrEqual(4.5)
      const isLifted = readable !== color
      expect(isLifted && contrast > 4.8, `${color} on ${surface}`).toBe(false)
    }
  }
})

test('keeps the hue, and a colour that is readable', () => {
  expect(readableOn('#b93a16', SURFACES.light)).toBe('#b93a16')
  const [red = 0, green = 0, blue = 0] = (
    readableOn('#0000ff', SURFACES.dark).match(/[\da-f]{2}/g) ?? []
  ).map((hex) => Number.parseInt(hex, 16))
  expect(blue).toBeGreaterThan(Math.max(red, green) + 60)
  expect(nameColor('#b93a16')).toMatch(/^light-dark\(#b93a16, #[\da-f]{6}\)$/)
})

test('has the surfaces of the design', () => {
  const tokens = readFileSync('web/styles/tokens.css', 'utf8')
  expect(tokens).toContain(`--color-surface: light-dark(${SURFACES.light}, ${SURFACES.dark});`)
})
