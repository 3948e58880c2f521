// Types of tools without any, as far as tests use them.

declare module '@marbec/web-auto-extractor' {
  export default class WebAutoExtractor {
    constructor(options?: { addLocation?: boolean; embedSource?: string[] })
    /** Structured data of a page, by form and type. */
    parse(html: string): { jsonld: Record<string, unknown[]>; errors: unknown[] }
  }
}

declare module '@adobe/structured-data-validator' {
  export interface Issue {
    issueMessage: string
    severity: 'ERROR' | 'WARNING'
    path: { type: string }[]
    fieldNames?: string[]
  }
  export default class Validator {
    constructor(schemaOrgJson?: object)
    validate(data: object): Promise<Issue[]>
  }
}
