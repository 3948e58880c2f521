import fc from 'fast-check'
import { expect, test } from 'vitest'
import { folderOf, joinPath, splitPath } from './library-path.ts'

test('a path of joined names is split into them again', () => {
  const name = fc.string({ minLength: 1, maxLength: 5 }).map((text) => text.replaceAll('/', '-'))
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), (names) => {
      let path = ''
      for (const each of names) path = joinPath(path, each)
      expect(path).toBe(names.join('/'))
      const split: string[] = []
      for (let place = splitPath(path); place !== undefined; place = splitPath(place.folder))
        split.unshift(place.name)
      expect(split).toEqual(names)
    }),
  )
})

test('a folder joined with no name is the folder, and the root has no parent', () => {
  expect([joinPath('a/b', ''), joinPath('', 'a'), joinPath('', '')]).toEqual(['a/b', 'a', ''])
  expect([folderOf('a/b/c'), folderOf('a'), folderOf('')]).toEqual(['a/b', '', ''])
})
