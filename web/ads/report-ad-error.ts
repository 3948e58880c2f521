// Reports errors of advertising to the console; visitors never see them.

export function reportAdError(what: string, cause: unknown): void {
  // oxlint-disable-next-line no-console -- the specification requires the console for these errors
  console.error(`Ads: ${what}.`, cause)
}
