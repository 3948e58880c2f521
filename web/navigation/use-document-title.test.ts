// @vitest-environment jsdom
import { renderHook } from '@testing-library/react'
import { expect, test } from 'vitest'
import { useDocumentTitle } from './use-document-title.ts'

test('keeps the title of a session in the HTML, and has its own for the next page', () => {
  document.title = 'Finale · Alice - 2026-01-31 - 1001 · Site'
  const { rerender } = renderHook(useDocumentTitle, { initialProps: 'Alice - 2026-01-31 - 1001' })
  expect(document.title).toBe('Finale · Alice - 2026-01-31 - 1001 · Site')
  rerender('Sessions: Alice')
  expect(document.title).toBe('Sessions: Alice · Site')
})
