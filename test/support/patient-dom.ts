// Before the tests of a file in jsdom: Testing Library waits as long for what comes soon as all
// other tests do.
import { patienceMs } from './patience.ts'

if ('document' in globalThis) {
  const { configure } = await import('@testing-library/react')
  configure({ asyncUtilTimeout: patienceMs })
}
