// The OpenAPI 3.1 document of the HTTP API: operations.ts with the schemas of the wire shapes.
import { z } from 'zod'
import { unplayableReasonSchema } from '../../server/base/problem.ts'
import type { OembedResponse } from '../../server/site/http/pages/oembed.ts'
import type { PublicConfig } from '../../shared/contract.ts'
import { loadContractSchemas } from './contract-schemas.ts'
import { errors, headers, operations } from './operations.ts'
import type { ErrorStatus, Operation } from './operations.ts'
import type { Schema } from './schema-shape.ts'

interface OpenApiDocument {
  openapi: '3.1.1'
  info: Json
  servers: Json[]
  paths: Record<string, Record<string, Json>>
  components: Record<'schemas' | 'headers' | 'responses', Record<string, Json>>
}

type Json = Record<string, unknown>

/** Longest name in a URL (server/site/http/session-parameters.ts). */
const MAX_NAME_LENGTH = 1024
/** Every call may fail so. */
const ALWAYS: ErrorStatus[] = [500, 503]

const site: z.ZodType<PublicConfig['site']> = z.object({
  name: z.string(),
  contactUrl: z.string().optional(),
})

const oembed: z.ZodType<OembedResponse> = z.object({
  version: z.literal('1.0'),
  type: z.literal('video'),
  title: z.string(),
  author_name: z.string(),
  author_url: z.string(),
  provider_name: z.string(),
  provider_url: z.string(),
  html: z.string(),
  width: z.int().positive(),
  height: z.int().positive(),
  thumbnail_url: z.string().exactOptional(),
  thumbnail_width: z.int().positive().exactOptional(),
  thumbnail_height: z.int().positive().exactOptional(),
})

const health = z.object({ status: z.enum(['ok', 'ready']) })
const placements = z.object({
  placements: z.array(z.object({ frame: z.string(), alt: z.string() }).nullable()),
})

export async function createDocument(version: string): Promise<OpenApiDocument> {
  const paths: OpenApiDocument['paths'] = {}
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method]: formatOperation(operation) }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Aftercast',
      version,
      description: 'All calls of the public listener. HEAD is answered like GET, without a body.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: '{basePath}',
        variables: { basePath: { default: '', description: '`server.basePath`, such as `/tv`' } },
      },
    ],
    paths,
    components: {
      schemas: await createSchemas(),
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, description]) => [
          name,
          { description, schema: { type: 'string' } },
        ]),
      ),
      responses: Object.fromEntries(
        statusesOf(errors).map((status) => [`Error${status}`, formatError(status)]),
      ),
    },
  }
}

async function createSchemas(): Promise<Record<string, Schema>> {
  const schemaOf = await loadContractSchemas()
  const config = schemaOf('configResponse')
  return {
    streamersResponse: schemaOf('streamersResponse'),
    sessionsResponse: schemaOf('sessionsResponse'),
    sessionResponse: schemaOf('sessionResponse'),
    detailsResponse: schemaOf('detailsResponse'),
    aroundResponse: schemaOf('aroundResponse'),
    chatIndexResponse: schemaOf('chatIndexResponse'),
    chatBucketResponse: schemaOf('chatBucketResponse'),
    publicConfig: {
      ...config,
      properties: { ...config.properties, site: fromZod(site) },
      required: [...(config.required ?? []), 'site'],
    },
    activityEvents: schemaOf('activityEvents'),
    errorResponse: schemaOf('errorResponse'),
    oembedResponse: fromZod(oembed),
    healthResponse: fromZod(health),
    placements: fromZod(placements),
  }
}

function fromZod(schema: z.ZodType): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema)
  return z.record(z.string(), z.unknown()).parse(rest)
}

function formatOperation(operation: Operation): Json {
  const { id, about, path, query = [], method } = operation
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const parameters = [
    ...names.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH },
    })),
    ...query.map(({ name, about: description, schema, required }) => ({
      name,
      in: 'query',
      description,
      required: required ?? false,
      schema,
    })),
  ]
  return {
    operationId: id,
    summary: about,
    ...(parameters.length > 0 && { parameters }),
    ...(method === 'post' && { requestBody: formatBody() }),
    responses: formatResponses(operation),
  }
}

function formatBody(): Json {
  const events = { $ref: '#/components/schemas/activityEvents' }
  return {
    required: true,
    content: {
      'application/json': { schema: events },
      // As sent by `sendBeacon`: the same JSON.
      'text/plain': { schema: { type: 'string', contentMediaType: 'application/json' } },
    },
  }
}

function formatResponses(operation: Operation): Json {
  const { content, statuses, missingPage } = operation
  const sent = Object.fromEntries(
    operation.headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
  const body = Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [
      type,
      schema === undefined ? {} : { schema: { $ref: `#/components/schemas/${schema}` } },
    ]),
  )
  const hasContent = Object.keys(content).length > 0
  const others = Object.entries(statuses).map(([status, description]) => {
    const hasBody = hasContent && !['304', '416'].includes(status)
    return [status, { description, headers: sent, ...(hasBody && { content: body }) }] as const
  })
  const failures = [...operation.errors, ...ALWAYS].map(
    (status) => [String(status), { $ref: `#/components/responses/Error${status}` }] as const,
  )
  return {
    ...(hasContent && { 200: { description: operation.about, headers: sent, content: body } }),
    ...Object.fromEntries([...others, ...failures]),
    ...(missingPage !== undefined && {
      404: { description: missingPage, content: { 'text/html': {} } },
    }),
  }
}

function formatError(status: ErrorStatus): Json {
  const { code, about } = errors[status]
  const retries = status === 429 || status === 503
  const names = ['Cache-Control', ...(retries ? ['Retry-After'] : [])]
  const reason = unplayableReasonSchema.options.map(({ shape }) => shape.code.value)
  const error =
    code === 'unplayable'
      ? { properties: { code: { const: code }, reason: { enum: reason } }, required: ['reason'] }
      : { properties: { code: { const: code } } }
  return {
    description: about,
    headers: Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    content: {
      'application/json': {
        schema: {
          allOf: [{ $ref: '#/components/schemas/errorResponse' }, { properties: { error } }],
        },
      },
    },
  }
}

function statusesOf(table: typeof errors): ErrorStatus[] {
  // The keys of the table.
  return Object.keys(table).map((status) => Number(status) as ErrorStatus)
}
