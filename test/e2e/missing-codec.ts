// A browser without a decoder for a codec, as many are without one for HEVC.
import type { Page } from '@playwright/test'

/** @param sampleEntry start of the codec string of RFC 6381 */
export async function removeDecoder(page: Page, sampleEntry = 'avc1'): Promise<void> {
  await page.addInitScript((missing) => {
    const isMissing = (type: string) => type.includes(missing)
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
  }, sampleEntry)
}
