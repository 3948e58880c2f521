// Messages for issues of files whose schema has none of its own. Pure.
import type { z } from 'zod'

/** Undefined where Zod's message is good enough. */
export function describeIssue({ code, ...issue }: z.core.$ZodRawIssue): string | undefined {
  if (code === 'invalid_type' && 'expected' in issue) {
    const isObject = issue.expected === 'object' || issue.expected === 'record'
    return isObject ? 'must be an object: { … }' : `must be a ${String(issue.expected)}`
  }
  if (code === 'invalid_value' && 'values' in issue && Array.isArray(issue.values)) {
    return `must be one of ${issue.values.join(', ')}`
  }
  return code === 'too_small' ? 'must not be empty' : undefined
}
