// The path below which the server has the site, from the HTML of the page.

/** `server.basePath`: '' or a path such as `/tv`. */
export function readBasePath(): string {
  return document.documentElement.dataset.basePath ?? ''
}
