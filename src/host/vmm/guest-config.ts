import { randomBytes } from 'node:crypto'
import type { Attachment } from '../network/network.ts'
import type { GuestProcess, VmVolume } from './vmm.ts'

/** The longest configuration of a guest. `guest/init/init.h` and the keeper have the same bound. */
export const maxGuestConfigBytes = 4 << 20

/** The random bytes that a guest gets: twice as many as its pool needs to count as seeded. */
const entropyBytes = 64

/**
 * The guest's configuration: records `key=value`, each ended by NUL, so that any other byte may stand in a
 * value. Undefined if a string holds NUL or the whole is too long. Callers check both before, so this
 * happens only if a caller has a fault.
 */
export function encodeGuestConfig(
  process: GuestProcess,
  attachment: Attachment,
  volume?: Pick<VmVolume, 'at' | 'readonly'>,
): Buffer | undefined {
  const records = [
    ...process.argv.map((argument) => `arg=${argument}`),
    ...Object.entries(process.env).map(([name, value]) => `env=${name}=${value}`),
    `cwd=${process.workingDirectory}`,
    `user=${process.user}`,
    `hostname=${process.hostname}`,
    `ip=${attachment.ip}`,
    `prefix=${attachment.prefixLength}`,
    `gateway=${attachment.gateway}`,
    `nameserver=${attachment.nameserver}`,
    `mac=${attachment.mac}`,
    ...(volume === undefined ? [] : [`volume=${volume.at}`, `volume_readonly=${volume.readonly ? 1 : 0}`]),
    `entropy=${randomBytes(entropyBytes).toString('hex')}`,
  ]
  if (records.some((record) => record.includes('\0'))) return undefined
  const encoded = Buffer.from(`${records.join('\0')}\0`)
  return encoded.length > maxGuestConfigBytes ? undefined : encoded
}
