// The reason of an unplayable recording as the catalog stores it: JSON in the column `reason`. A code that is renamed or
// removed needs a migration that deletes the rows with it; the next walk adds them again.
import { unplayableReasonSchema } from '../../problem.ts'
import type { UnplayableReason } from '../../problem.ts'

export function formatStoredReason(reason: UnplayableReason): string {
  return JSON.stringify(reason)
}

export function parseStoredReason(stored: string): UnplayableReason {
  return unplayableReasonSchema.parse(JSON.parse(stored))
}
