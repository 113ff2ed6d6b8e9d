import { readFile } from 'node:fs/promises'
import path from 'node:path'

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

interface Manifest {
  readonly kernelRelease: string
  readonly files: Readonly<Record<string, string>>
}

export async function readGuestAssets(directory: string): Promise<GuestAssets> {
  const manifest = JSON.parse(await readFile(path.join(directory, 'manifest.json'), 'utf8')) as Manifest
  const hashOf = (name: string) => {
    const hash = manifest.files[name]
    if (hash === undefined)
      throw new Error(`${directory}/manifest.json names no '${name}': build the guest again`)
    return hash
  }
  return {
    kernelPath: path.join(directory, 'vmlinux'),
    initrdPath: path.join(directory, 'initrd.cpio'),
    keeperPath: path.join(directory, 'keeper'),
    kvmProbePath: path.join(directory, 'kvm-probe'),
    kernelRelease: manifest.kernelRelease,
    guestHash: `${hashOf('vmlinux').slice(0, 16)}-${hashOf('initrd.cpio').slice(0, 16)}`,
  }
}
