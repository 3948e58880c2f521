// JSON Schemas of the wire shapes: the modules of shared/ that have them, evaluated a second time
// with schema-shape.ts in the place of shape.ts. So the parsers in the page need no description.
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import path from 'node:path'
import type * as around from '../../shared/around-response.ts'
import type * as contract from '../../shared/contract.ts'
import { replaced } from './schema-shape.ts'
import type { Schema } from './schema-shape.ts'

type ShapeName = keyof typeof contract | keyof typeof around

const modules = ['contract.ts', 'around-response.ts'].map((name) => {
  const { href } = pathToFileURL(path.join(import.meta.dirname, '../../shared', name))
  return `${href}?schemas`
})
const schemaShapeUrl = new URL('schema-shape.ts', import.meta.url)

/** The schema of each shape that these modules export. */
export async function loadContractSchemas(): Promise<(name: ShapeName) => Schema> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === './shape.ts' && modules.includes(context.parentURL ?? '')
        ? { url: schemaShapeUrl.href, shortCircuit: true }
        : next(specifier, context),
  })
  try {
    const loaded: object[] = await Promise.all(modules.map((url) => import(url)))
    const schemas: Record<string, unknown> = Object.assign({}, ...loaded)
    return (name) => {
      const schema = schemas[name]
      if (!isSchema(schema)) throw new TypeError(`${name} is not a shape`)
      return schema
    }
  } finally {
    hooks.deregister()
  }
}

function isSchema(value: unknown): value is Schema {
  const keywords = Object.keys(replaced.object({}))
  if (typeof value !== 'object' || value === null) return false
  return [...keywords, 'anyOf'].some((keyword) => keyword in value)
}
