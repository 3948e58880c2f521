// Where errors of advertising go: to the console alone, never before the visitor.

export function reportAdError(what: string, cause: unknown): void {
  // oxlint-disable-next-line no-console -- the specification's place for these errors
  console.error(`Ads: ${what}.`, cause)
}
