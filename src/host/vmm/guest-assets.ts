import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { isJsonObject, parseJson } from '../../domain/json-text.ts'

/** What `guest/build.mjs` made: the platform's kernel and initrd, the keeper and the KVM probe. */
export interface GuestAssets {
  readonly kernelPath: string
  readonly initrdPath: string
  readonly keeperPath: string
  readonly kvmProbePath: string
  readonly kernelRelease: string
  /** Changes with any byte of kernel or initrd. */
  readonly guestHash: string
}

export async function readGuestAssets(directory: string): Promise<GuestAssets> {
  const manifest = parseJson(await readFile(path.join(directory, 'manifest.json'), 'utf8'))
  const { kernelRelease, files } = isJsonObject(manifest) ? manifest : {}
  if (typeof kernelRelease !== 'string' || !isJsonObject(files)) {
    throw new Error(`${directory}/manifest.json is damaged: build the guest again`)
  }
  const hashOf = (name: string) => {
    const hash = files[name]
    if (typeof hash === 'string') return hash
    throw new Error(`${directory}/manifest.json names no '${name}': build the guest again`)
  }
  return {
    kernelPath: path.join(directory, 'vmlinux'),
    initrdPath: path.join(directory, 'initrd.cpio'),
    keeperPath: path.join(directory, 'keeper'),
    kvmProbePath: path.join(directory, 'kvm-probe'),
    kernelRelease,
    guestHash: `${hashOf('vmlinux').slice(0, 16)}-${hashOf('initrd.cpio').slice(0, 16)}`,
  }
}
