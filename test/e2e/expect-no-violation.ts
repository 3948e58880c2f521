// The automatic checks of WCAG 2.2 AA.
import { AxeBuilder } from '@axe-core/playwright'
import { test, type Page } from '@playwright/test'
import { expect } from './expect.ts'

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * What the page shows now has no violation of WCAG 2.2 AA that a machine can find. `part` is the
 * selector of a part that is checked instead, without the rule of the size of targets.
 */
export async function expectNoViolation(page: Page, part?: string): Promise<void> {
  // Without frames, the results need no page of their own, which costs as much as the checks.
  expect(page.frames()).toHaveLength(1)
  // @ts-expect-error axe has its own copy of playwright-core, with other types.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  const { violations } = await (
    part === undefined ? axe.withTags(tags) : axe.include(part)
  ).analyze()
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
}

/** Checks the page without motion, in the light and in the dark colour scheme. */
export async function inBothSchemes(page: Page, check: () => Promise<void>): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await test.step(colorScheme, async () => {
      await setColors(page, { colorScheme, contrast: 'no-preference' })
      await check()
    })
  }
}

/** Shows the page in other colours, without motion. */
export async function setColors(
  page: Page,
  colors: { colorScheme: 'light' | 'dark'; contrast: 'more' | 'no-preference' },
): Promise<void> {
  // Cards out of sight change their colours only if they are rendered.
  await page.evaluate(() => {
    const style = new CSSStyleSheet()
    style.replaceSync('* { content-visibility: visible !important; transition: none !important }')
    document.adoptedStyleSheets = [style]
  })
  await page.emulateMedia({ ...colors, reducedMotion: 'reduce' })
  await page.evaluate(async () => {
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame)
  })
}
