import { expect, it } from 'vitest'
import { findObstacles, notesOf } from './release.ts'

const changelog = [
  '# Changelog',
  '',
  '## [Unreleased]',
  '',
  '## [1.0.0] - 2026-12-01',
  '',
  '### Added',
  '',
  '- Chat.',
  '',
  '## [0.2.0] - 2026-11-22',
  '',
  '- Moments.',
  '',
].join('\n')
const ready = { status: '', tags: ['v0.2.0', ''], changelog }

it('takes the notes of a version from the changelog', () => {
  expect(notesOf('1.0.0', changelog)).toBe('### Added\n\n- Chat.')
  expect(notesOf('0.2.0', changelog)).toBe('- Moments.')
  expect(notesOf('1.0', changelog)).toBe('')
})

it.each([
  [{}, '1.0.0', []],
  [{ status: ' M README.md\n' }, '1.0.0', ['the working tree has changes that are not committed']],
  [{}, '0.2.0', ['v0.2.0 is released: set another version']],
  [{}, '1.1.0', ['CHANGELOG.md says nothing about 1.1.0']],
])('refuses %j of version %s with %j', (change, version, obstacles) => {
  expect(findObstacles(version, { ...ready, ...change })).toEqual(obstacles)
})
