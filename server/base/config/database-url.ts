// The form of a database URL, and how it is shown.

/** Whether PostgreSQL's driver accepts the URL. */
export function isDatabaseUrl(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && /^postgres(?:ql)?:$/.test(url.protocol) && url.pathname.length > 1
}

/** Host and name, without the password. */
export function formatDatabase(url: string): string {
  const { host, pathname } = new URL(url)
  return host + pathname
}
