// What one processor can encrypt at most: AES-128-CBC as openssl measures itself.
import { spawnSync } from 'node:child_process'

/**
 * MB/s of the cipher alone; undefined where openssl is missing.
 * @param wrapper prefix of the command
 */
export function measureCipher(wrapper: string[], seconds: number): number | undefined {
  const words = ['speed', '-mr', '-evp', 'aes-128-cbc', '-bytes', '1048576']
  const command = [...wrapper, 'openssl', ...words, '-seconds', String(Math.ceil(seconds))]
  const { stdout } = spawnSync(command[0] ?? '', command.slice(1), { encoding: 'utf8' })
  const speed = /^\+F:\d+:AES-128-CBC:(?<bytes>[\d.]+)$/m.exec(stdout ?? '')?.groups?.bytes
  return speed === undefined ? undefined : Number(speed) / 1e6
}
