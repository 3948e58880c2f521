// Configuration of a site that shows the ads of the stand-in network.
import { insClass, type AdNetwork } from '../ad-network/ad-network.ts'

const zones = { banner: 'frame', inline: 'frame', video: 'plain' }

/** The `ads` section as an operator would write it. */
export function networkAds({ url, variantUrls }: AdNetwork): object {
  const variants = [...variantUrls].map(([name, address]) => [
    name,
    { url: address, allowPrivate: true },
  ])
  return {
    provider: 'network',
    scriptHost: 'standin',
    hosts: { standin: { url, allowPrivate: true }, ...Object.fromEntries(variants) },
    insClass,
    vastUrl: `${url}/v1/vast.php?idzone={zone}`,
    zones,
  }
}
