// The form of a database URL.

/** Whether PostgreSQL's driver accepts the URL. */
export function isDatabaseUrl(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && /^postgres(?:ql)?:$/.test(url.protocol) && url.pathname.length > 1
}
