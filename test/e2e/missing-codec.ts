// A browser without a decoder for H.264, as many are without one for HEVC.
import type { Page } from '@playwright/test'

export async function removeDecoder(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const isMissing = (type: string) => type.includes('avc1')
    // oxlint-disable-next-line typescript/unbound-method
    const { addSourceBuffer } = MediaSource.prototype
    MediaSource.prototype.addSourceBuffer = function add(type) {
      if (isMissing(type)) throw new DOMException('no decoder', 'NotSupportedError')
      return addSourceBuffer.call(this, type)
    }
    // oxlint-disable-next-line typescript/unbound-method
    const { canPlayType } = HTMLMediaElement.prototype
    HTMLMediaElement.prototype.canPlayType = function can(type) {
      return isMissing(type) ? '' : canPlayType.call(this, type)
    }
  })
}
