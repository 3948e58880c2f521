// JSON Schemas of the wire shapes: the module shared/contract.ts, evaluated a second time with
// schema-shape.ts in the place of shape.ts. So the parsers in the page need no description.
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import path from 'node:path'
import type * as contract from '../../shared/contract.ts'
import { replaced } from './schema-shape.ts'
import type { Schema } from './schema-shape.ts'

type ShapeName = keyof typeof contract

const contractUrl = pathToFileURL(path.join(import.meta.dirname, '../../shared/contract.ts'))
const schemaShapeUrl = new URL('schema-shape.ts', import.meta.url)

/** The schema of each shape that the contract exports. */
export async function loadContractSchemas(): Promise<(name: ShapeName) => Schema> {
  const evaluated = `${contractUrl.href}?schemas`
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === './shape.ts' && context.parentURL === evaluated
        ? { url: schemaShapeUrl.href, shortCircuit: true }
        : next(specifier, context),
  })
  try {
    const schemas: Record<string, unknown> = await import(evaluated)
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
