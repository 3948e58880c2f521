// placeholder until the merge
export async function createDemoLibrary(
  _folder: string,
  _o: { onProgress: (l: string) => void; signal: AbortSignal },
): Promise<void> {}
