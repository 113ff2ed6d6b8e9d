import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { GuestProcess, VmSpec, VmVolume } from '../../../src/host/vmm/vmm.ts'

export interface VmSpecInput extends Partial<GuestProcess> {
  /** The directory with one directory per instance. */
  readonly directory: string
  readonly instanceUuid: string
  readonly userUuid?: string
  readonly rootfsPath: string
  readonly argv: readonly string[]
  readonly memoryMb?: number
  readonly volume?: VmVolume
}

/** A VM whose network leads nowhere, for tests of the VMM only. */
export async function vmSpec(input: VmSpecInput): Promise<VmSpec> {
  const { instanceUuid, rootfsPath, argv } = input
  const directory = path.join(input.directory, instanceUuid)
  const consoleDirectory = path.join(directory, 'console')
  await mkdir(consoleDirectory, { recursive: true })
  return {
    instanceUuid,
    boot: 1,
    directory,
    consoleDirectory,
    userUuid: input.userUuid ?? 'ann',
    memoryMb: input.memoryMb ?? 128,
    vcpus: 1,
    image: {
      kind: 'container',
      digest: 'sha256:0',
      rootfsPath,
      entrypoint: [],
      command: [],
      env: [],
      workingDirectory: '/',
      user: '',
      labels: {},
    },
    process: {
      argv,
      env: input.env ?? {},
      workingDirectory: input.workingDirectory ?? '/',
      user: input.user ?? '',
      hostname: input.hostname ?? 'guest',
    },
    attachment: {
      kind: 'user',
      forwards: [],
      ip: '10.0.2.15',
      prefixLength: 24,
      gateway: '10.0.2.2',
      nameserver: '10.0.2.3',
      mac: `52:54:00:${instanceUuid.slice(-6, -4)}:${instanceUuid.slice(-4, -2)}:${instanceUuid.slice(-2)}`,
    },
    ...(input.volume === undefined ? {} : { volume: input.volume }),
    restore: false,
  }
}
