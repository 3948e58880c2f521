// Reports errors of advertising to the console; visitors never see them.

export function reportAdError(what: string, cause: unknown): void {
  // oxlint-disable-next-line no-console -- ad errors are reported on the console only
  console.error(`Ads: ${what}.`, cause)
}
