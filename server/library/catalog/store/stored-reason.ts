// The catalog stores the reason of an unplayable recording as JSON in the column `reason`. To
// rename or remove a code, add a migration that deletes its rows; the next walk adds them again.
import { unplayableReasonSchema } from '../../../base/problem.ts'
import type { UnplayableReason } from '../../../base/problem.ts'

export function formatStoredReason(reason: UnplayableReason): string {
  return JSON.stringify(reason)
}

/** Undefined for any other text: an older version may still be writing to the catalog. */
export function parseStoredReason(stored: string): UnplayableReason | undefined {
  try {
    return unplayableReasonSchema.safeParse(JSON.parse(stored)).data
  } catch {
    return undefined
  }
}
