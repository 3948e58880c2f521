// A time limit for the providers of credentials: the SDK has none, and shares a request for
// credentials with all later calls until it ends.
import type { S3ClientResolvedConfig } from '@aws-sdk/client-s3'
import { withTimeout } from '../../../../shared/with-timeout.ts'
import { AppError } from '../../../base/errors.ts'

export type CredentialProvider = S3ClientResolvedConfig['credentials']

/** Longer than a call: a program may print them late, and what it prints is used. */
const TIMEOUT_MS = 30_000

/** `create` returns a provider that shares nothing with earlier ones. */
export function limitCredentials(create: () => CredentialProvider): CredentialProvider {
  const reason = (): AppError => new AppError('busy', 'no credentials for the store: no response')
  let provider = create()
  return async (options) => {
    const current = provider
    try {
      return await withTimeout(async () => current(options), { timeoutMs: TIMEOUT_MS, reason })
    } catch (error) {
      if (provider === current) provider = create()
      throw error
    }
  }
}
