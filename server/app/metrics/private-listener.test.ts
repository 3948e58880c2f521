import { expect, it } from 'vitest'
import { isOwnHost } from './private-listener.ts'

const names = ['Metrics.example', 'aftercast']

it.each([
  '127.0.0.1:9464',
  '127.0.0.1',
  // A pod, a container with a mapped port, a private network.
  '10.42.0.7:9464',
  '[::1]:9464',
  '[fd00::7]:9464',
  'localhost:9464',
  'LOCALHOST',
  'a.localhost:9464',
  'metrics.example:9464',
  'aftercast:9464',
])('answers %s', (host) => {
  expect(isOwnHost(host, names)).toBe(true)
})

it.each([
  undefined,
  '',
  ':9464',
  'attacker.example:9464',
  'other:9464',
  'localhost.attacker.example',
  '127.0.0.1.attacker.example',
  'metrics.example.attacker.example',
  'metrics.example@attacker.example',
])('does not answer %s', (host) => {
  expect(isOwnHost(host, names)).toBe(false)
})
