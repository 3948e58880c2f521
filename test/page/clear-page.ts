// Before the tests of a file in a window that files share: after the last one, the window is empty.
import { afterAll } from 'vitest'

afterAll(() => {
  if (!('document' in globalThis)) return
  document.head.replaceChildren()
  document.body.replaceChildren()
  for (const element of [document.documentElement, document.body])
    for (const name of element.getAttributeNames()) element.removeAttribute(name)
  localStorage.clear()
  sessionStorage.clear()
  history.replaceState(null, '', '/')
})
