// The script of the stand-in ad network as publishers embed it: executes the commands queued in
// `AdProvider`, requests ads for every placeholder without one, and inserts them before the
// placeholder.
;(() => {
  const networkOrigin = 'NETWORK_ORIGIN'
  const selector = 'ins[class^="INS_CLASS"][data-zoneid]:not([data-processed="true"])'

  const queued = window.AdProvider ?? []
  window.AdProvider = { push: (command) => run(command) }
  for (const command of queued) run(command)

  function run(command) {
    if ('serve' in command) serve().catch((error) => console.warn(error))
    else console.warn('unknown command', Object.keys(command))
  }

  async function serve() {
    const placeholders = [...document.querySelectorAll(selector)].map((ins) => {
      const wrapper = document.createElement('div')
      wrapper.append(document.createElement('style'), document.createElement('div'))
      ins.before(wrapper)
      ins.dataset.processed = 'true'
      return { zone: ins.dataset.zoneid, wrapper }
    })
    if (placeholders.length === 0) return
    const response = await fetch(`${networkOrigin}/v1/api.php`, {
      method: 'POST',
      credentials: 'include',
      headers: { 'content-type': 'text/plain' },
      body: JSON.stringify({ url: location.href, zones: placeholders.map(({ zone }) => zone) }),
    })
    const creatives = await response.json()
    placeholders.forEach(({ wrapper }, index) => fill(wrapper, creatives[index]))
  }

  function fill(wrapper, creative) {
    if (creative === null) return
    const element = document.createElement(creative.element)
    for (const [name, value] of Object.entries(creative.attributes))
      element.setAttribute(name, value)
    wrapper.append(element)
  }
})()
