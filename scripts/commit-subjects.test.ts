// Commits in temporary repositories, with the hook of this one.
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { findLongSubjects } from './commit-subjects.ts'
import { makeTempFolder } from '../test/support/temp-folder.ts'

const longest = 's'.repeat(72)
const tooLong = 's'.repeat(73)
const dated = { old: '2026-11-23T12:00:00Z', new: '2026-11-25T12:00:00Z' }
const hooks = path.join(path.dirname(import.meta.dirname), '.githooks')

let folder = ''
beforeEach(async () => {
  folder = makeTempFolder('commits')
  git(['init', '--quiet'])
})
function git(args: string[], date: keyof typeof dated = 'new') {
  const identity = ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.com']
  return spawnSync('git', [...identity, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], GIT_COMMITTER_DATE: dated[date] },
  })
}

function commit(message: string, date?: keyof typeof dated) {
  return git(['commit', '--quiet', '--allow-empty', '--message', message], date)
}

it('finds long subjects of new commits, and none in a tree without commits', () => {
  expect(findLongSubjects(folder)).toEqual([])
  commit(tooLong, 'old')
  for (const message of [longest, `${longest}\n\n${tooLong}`]) commit(message)
  expect(findLongSubjects(folder)).toEqual([])
  commit(tooLong)
  commit('Fix it')
  expect(findLongSubjects(folder)).toEqual([
    expect.stringMatching(/^commit [0-9a-f]{7,}: the subject has 73 characters; at most 72$/),
  ])
})

it('finds long subjects in what a shallow clone contains', () => {
  commit(tooLong)
  commit(tooLong)
  git(['clone', '--quiet', '--depth', '1', `file://${folder}`, 'clone'])
  expect(findLongSubjects(path.join(folder, 'clone'))).toHaveLength(1)
})

it('refuses a commit with a long subject by the hook', () => {
  git(['config', 'core.hooksPath', hooks])
  expect(commit(`${longest}\n\n${tooLong}`)).toMatchObject({ status: 0 })
  const refused = {
    status: 1,
    stderr: 'commit message: the subject has 73 characters; at most 72\n',
  }
  expect(commit(tooLong)).toMatchObject(refused)
  // Git joins the lines of the first paragraph to the subject, and drops comments.
  expect(commit(`${'s'.repeat(40)}\n${'s'.repeat(32)}`)).toMatchObject(refused)
  expect(git(['rev-list', '--count', 'HEAD']).stdout).toBe('1\n')
})
