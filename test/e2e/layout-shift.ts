// Measures how far visible content moves by itself (Layout Instability API).
import type { Page } from '@playwright/test'
import { expect } from './expect.ts'

/** Values of all layout shifts, up to one that moves the marker of `layoutShift`. */
export function recordLayoutShifts(): void {
  const shifts = { values: Array<number>(), hasMarker: false }
  Object.assign(globalThis, { layoutShifts: shifts })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const sources: { node?: unknown }[] = Reflect.get(entry, 'sources')
      const hasMarker = sources.some(({ node }) => node instanceof Element && node.id === 'marker')
      if (hasMarker) shifts.hasMarker = true
      else shifts.values.push(Number(Reflect.get(entry, 'value')))
    }
  }).observe({ type: 'layout-shift', buffered: true })
}

/**
 * Sum of all layout shifts so far. Entries arrive in order, so that a last shift of a marker ends
 * them.
 */
export async function layoutShift(page: Page): Promise<number> {
  await page.evaluate(() => {
    const marker = document.createElement('div')
    marker.id = 'marker'
    marker.textContent = 'marker'
    marker.style.cssText = 'position: absolute; inset: 0 auto auto 0; background: red; width: 50vw'
    document.body.append(marker)
  })
  // A screenshot renders a frame with the marker at its first position.
  await page.screenshot()
  await page.evaluate(() => document.getElementById('marker')?.style.setProperty('top', '40vh'))
  await expect.poll(() => page.evaluate<boolean>('globalThis.layoutShifts.hasMarker')).toBe(true)
  const values = await page.evaluate<number[]>('globalThis.layoutShifts.values')
  return values.reduce((sum, value) => sum + value, 0)
}
