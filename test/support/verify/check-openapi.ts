// Compares responses with docs/api/openapi.json, and that with the specification of OpenAPI.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { z } from 'zod'
import type { RawResponse } from '../servers/raw-request.ts'

const file = path.join(import.meta.dirname, '../../../docs/api/openapi.json')
const reference = z.object({ $ref: z.string() })
const response = z.object({
  headers: z.record(z.string(), z.unknown()).default({}),
  content: z.record(z.string(), z.object({ schema: z.unknown().optional() })).optional(),
})
const operation = z.object({ responses: z.record(z.string(), z.union([reference, response])) })
const openApi = z.looseObject({
  openapi: z.string().startsWith('3.1.'),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({
    headers: z.record(z.string(), z.unknown()),
    responses: z.record(z.string(), response),
  }),
})

/** Errors of the document; undefined if it is valid. */
export async function findInvalidOpenApi(): Promise<unknown> {
  const { valid, errors } = await new Validator().validate(file)
  return valid ? undefined : errors
}

type CheckResponse = (method: 'get' | 'post', template: string, received: RawResponse) => void

/** Returns a function that fails if a response is not described: status, type, headers, body. */
export function createOpenApiCheck(): CheckResponse {
  const text = readFileSync(file, 'utf8')
  const document = openApi.parse(JSON.parse(text))
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true })
  ajv.addSchema(JSON.parse(text), 'openapi.json')

  return (method, template, received) => {
    const where = `${method} ${template} ${received.status}`
    const described = document.paths[template]?.[method]?.responses[received.status]
    if (described === undefined) throw new Error(`${where} is not described`)
    const name = '$ref' in described ? described.$ref.split('/').at(-1) : undefined
    const wanted =
      name === undefined ? response.parse(described) : document.components.responses[name]
    if (wanted === undefined) throw new Error(`${where}: ${name} is missing`)
    const sent = Object.keys(document.components.headers).filter(
      (header) => received.headers[header.toLowerCase()] !== undefined,
    )
    const isError = received.status >= 400
    // Tags and Vary may be on errors, too.
    if (!isError) expect(Object.keys(wanted.headers), where).toEqual(expect.arrayContaining(sent))
    if (wanted.content === undefined) return expect(received.body.length, where).toBe(0)
    const [type = ''] = (received.headers['content-type'] ?? '').split(';')
    const content = wanted.content[type]
    if (content === undefined) throw new Error(`${where}: ${type} is not described`)
    if (content.schema === undefined) return
    const validate = ajv.compile(absolute(content.schema))
    validate(JSON.parse(received.body.toString()))
    expect(validate.errors, where).toBeNull()
  }
}

/** The schema with references into the whole document. */
function absolute(schema: unknown): object {
  const written = JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/')
  return z.looseObject({}).parse(JSON.parse(written))
}
