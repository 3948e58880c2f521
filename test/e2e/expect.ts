// The `expect` of all browser tests. The pauses of Playwright's `poll` grow to a second, for which
// most tests would wait in vain several times.
import { expect as base } from '@playwright/test'

const intervals = [100]

const poll: typeof base.poll = (actual, options) =>
  base.poll(actual, {
    intervals,
    ...(typeof options === 'string' ? { message: options } : options),
  })

export const expect = new Proxy(base, {
  get: (target, key, receiver) => (key === 'poll' ? poll : Reflect.get(target, key, receiver)),
})
