// The automatic checks of WCAG 2.2 AA.
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { expect } from './expect.ts'

/** What the page shows now has no violation of WCAG 2.2 AA that a machine can find. */
export async function expectNoViolation(page: Page): Promise<void> {
  // @ts-expect-error axe has its own copy of playwright-core, with other types.
  const axe = new AxeBuilder({ page })
  const { violations } = await axe
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze()
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
}
