import { expect, it } from 'vitest'
import { composeFork, composeTools } from './sandbox-command.ts'
import type { SandboxPart } from './sandbox-command.ts'

const all = new Set<SandboxPart>(['limits', 'network', 'privileges', 'user', 'files'])
const confinement = { parts: all, isRoot: true, nodePath: '/opt/node', readable: ['/app'] }
const limits = { memoryBytes: 2 ** 29, cpuSeconds: 300 }

it('starts Node after every tool', () => {
  const { execPath, execArgv } = composeFork(confinement, limits)
  expect([execPath, ...execArgv].join(' ')).toBe(
    'prlimit --data=1610612736 --cpu=300 --nofile=64 --fsize=0 --core=0 ' +
      'unshare --net --ipc ' +
      'setpriv --pdeathsig=KILL --no-new-privs --inh-caps=-all --ambient-caps=-all ' +
      '--bounding-set=-all --reuid=65534 --regid=65534 --clear-groups ' +
      '--landlock-access=fs:write-file,truncate,remove-dir,remove-file,' +
      'make-char,make-dir,make-reg,make-sock,make-fifo,make-block,make-sym ' +
      '/opt/node --max-old-space-size=192 --permission --allow-addons --allow-fs-read=/app',
  )
})

it('needs no privileges where the server has none', () => {
  const { execArgv } = composeFork({ ...confinement, isRoot: false }, limits)
  const command = execArgv.join(' ')
  expect(command).toContain(' unshare --user --net --ipc setpriv ')
  expect(command).not.toMatch(/reuid|regid|groups|bounding/)
})

it.each<[SandboxPart, boolean, string]>([
  ['limits', true, 'prlimit'],
  ['network', true, 'unshare'],
  ['privileges', false, 'setpriv'],
  ['files', false, 'setpriv'],
  ['user', true, 'setpriv'],
])('composes %s alone', (part, isRoot, tool) => {
  const tools = composeTools({ parts: new Set([part]), isRoot }, limits)
  expect(tools.filter((word) => !word.startsWith('-'))).toEqual([tool])
})

it('starts the running Node with its permissions where no tool can be used', () => {
  expect(composeFork({ ...confinement, parts: new Set() }, limits)).toEqual({
    execArgv: [
      '--max-old-space-size=192',
      '--permission',
      '--allow-addons',
      '--allow-fs-read=/app',
    ],
  })
})
