// The house ad script, run by the page: fills placeholders with the protocol of an ad network's
// script.
// @ts-check
;(() => {
  const PLACEHOLDERS = 'ins[class^="promo-ins"]:not([data-processed=true])'
  /** Most slots per request; more are sent in further requests at once. */
  const MOST_PLACES = 100
  const LOWEST_ROOM = 40
  const HIGHEST_FRAME = 600

  const own = document.currentScript
  if (!(own instanceof HTMLScriptElement)) return
  /** The script is at `/api/proxy-ad/house/ad-provider.js`, maybe below a base path. */
  const serveUrl = new URL('../../promo/serve', own.src)

  /** @param {unknown} command */
  function push(command) {
    if (typeof command === 'object' && command !== null && 'serve' in command) serveAll()
  }

  function serveAll() {
    /** @type {HTMLElement[]} */
    const places = [...document.querySelectorAll(PLACEHOLDERS)].filter(
      (element) => element instanceof HTMLElement,
    )
    for (let first = 0; first < places.length; first += MOST_PLACES) {
      serve(places.slice(first, first + MOST_PLACES)).catch((error) =>
        // oxlint-disable-next-line no-console -- the page's console is where ads report failures
        console.warn('House ads could not be served.', error),
      )
    }
  }

  /** @param {HTMLElement[]} places */
  async function serve(places) {
    // Marked before the response, so that a concurrent call ignores them.
    for (const place of places) place.dataset.processed = 'true'
    const wrappers = places.map(wrap)
    const query = new URLSearchParams()
    for (const { dataset } of places) query.append('zone', dataset.zoneid ?? '')
    const response = await fetch(new URL(`?${query}`, serveUrl))
    if (!response.ok) throw new Error(`status ${response.status}`)
    /** @type {{ placements: ({ frame: string, alt: string } | null)[] }} */
    const { placements } = await response.json()
    placements.forEach((placement, at) => {
      const wrapper = wrappers[at]
      if (placement !== null && wrapper?.isConnected)
        wrapper.append(createFrame(placement, wrapper))
    })
  }

  /** @param {HTMLElement} place */
  function wrap(place) {
    const wrapper = document.createElement('div')
    wrapper.style.width = '100%'
    place.before(wrapper)
    return wrapper
  }

  /**
   * As high as the room reserved for it, so that nothing moves; otherwise the usual height for its
   * width.
   *
   * @param {{ frame: string, alt: string }} placement
   * @param {HTMLElement} wrapper
   */
  function createFrame({ frame, alt }, wrapper) {
    const element = document.createElement('iframe')
    const room = wrapper.parentElement?.clientHeight ?? 0
    const usual = wrapper.clientWidth >= 600 ? 90 : 250
    element.title = `Advertisement: ${alt}`
    element.setAttribute('sandbox', 'allow-popups allow-popups-to-escape-sandbox')
    element.style.display = 'block'
    element.style.width = '100%'
    element.style.height = `${room >= LOWEST_ROOM ? Math.min(room, HIGHEST_FRAME) : usual}px`
    element.style.border = '0'
    element.src = new URL(frame, serveUrl).href
    return element
  }

  /** @type {unknown} */
  const queued = Reflect.get(window, 'AdProvider')
  Reflect.set(window, 'AdProvider', { push })
  if (Array.isArray(queued)) queued.forEach(push)
})()
