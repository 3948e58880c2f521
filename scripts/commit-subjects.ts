// The length of commit subjects: a rule of check-style.ts for the history, and of the hook
// `.githooks/commit-msg` for one message: `node scripts/commit-subjects.ts MESSAGE_FILE`.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const MAX_CHARACTERS = 72
/** Older commits stay as they are. A date also works in a shallow clone and after a rebase. */
const CHECKED_SINCE = '2026-11-24T22:00:00Z'

/** Subjects in the history of HEAD that are too long, as far as the clone contains it. */
export function findLongSubjects(root: string): string[] {
  const args = ['log', `--since=${CHECKED_SINCE}`, '--format=%h %s']
  const history = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  // A tree without git or without a commit has no subjects.
  if (history.status !== 0) return []
  return history.stdout.split('\n').flatMap((line) => {
    const [hash = ''] = line.split(' ', 1)
    return findProblem(line.slice(hash.length + 1)).map((problem) => `commit ${hash}: ${problem}`)
  })
}

function findProblem({ length }: string): string[] {
  return length > MAX_CHARACTERS
    ? [`the subject has ${length} characters; at most ${MAX_CHARACTERS}`]
    : []
}

/** The subject is the first paragraph of the message, in one line, without comments. */
function readSubject(messageFile: string): string {
  const input = readFileSync(messageFile)
  const args = ['stripspace', '--strip-comments']
  const message = spawnSync('git', args, { input, encoding: 'utf8' }).stdout
  return (message.split('\n\n', 1)[0] ?? '').trim().replaceAll('\n', ' ')
}

const [program, messageFile] = process.argv.slice(1)
if (program === fileURLToPath(import.meta.url) && messageFile !== undefined) {
  const problems = findProblem(readSubject(messageFile))
  for (const problem of problems) console.error(`commit message: ${problem}`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
