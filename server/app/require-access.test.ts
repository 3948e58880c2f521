// What an operator reads where a folder or store of the configuration cannot be used.
import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { AppError } from '../base/errors.ts'
import { asAppError } from '../storage/recordings/s3/store-error.ts'
import type { Io } from './io.ts'
import { requireAccess } from './require-access.ts'

const { signal } = new AbortController()
const io = { signal, stderr: () => undefined } as Pick<Io, 'signal' | 'stderr'> as Io

async function refusalOf(error: AppError): Promise<unknown> {
  const data = `${tmpdir()}/has-no-catalog`
  const check = async (): Promise<void> => Promise.reject(error)
  return requireAccess({ key: 'recordings', value: '/srv', check, data, io }).catch(
    (refusal: unknown) => refusal,
  )
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: raw message, open '/srv/x.tmp'`), { code })
}

it('is a failure where permissions are missing, and unusable configuration elsewhere', async () => {
  const closed = new AppError('failed', 'permission denied', { cause: systemError('EACCES') })
  expect(await refusalOf(closed)).toMatchObject({
    code: 'failed',
    message: 'recordings: /srv: permission denied',
  })
  const missing = new AppError('not_found', 'there is no such folder')
  expect(await refusalOf(missing)).toMatchObject({
    code: 'usage',
    message: 'recordings: /srv: there is no such folder',
  })
})

it.each([
  ['ENOTFOUND', ': no such host (ENOTFOUND)'],
  ['ECONNREFUSED', ': connection refused (ECONNREFUSED)'],
  ['', ` (Error): : raw message, open '/srv/x.tmp'`],
])('names the reason and the remedy of a store that fails with %s', async (code, reason) => {
  const remedy = 'check AWS_ENDPOINT_URL_S3, AWS_REGION and the network'
  expect(await refusalOf(asAppError(systemError(code)) as AppError)).toMatchObject({
    code: 'usage',
    message: `recordings: /srv: the store is unavailable${reason}; ${remedy}`,
  })
})

it('refuses an endpoint that is no URL', () => {
  expect(asAppError(systemError('ERR_INVALID_URL')).message).toBe('AWS_ENDPOINT_URL_S3 is no URL')
})
