/**
 * The disk that is an instance's volume, for the VMM's command line. The VMM gets the file as a descriptor
 * and opens nothing, so the file keeps its owner no matter which user the VMM runs as. The VMM's lock on the
 * file, which goes with the descriptor, keeps a second VMM out.
 */
export interface VolumeDevice {
  readonly fd: number
  readonly readonly: boolean
}

/** The number of the VMM's set of descriptors. There is only this one. */
const fdSet = 1

/**
 * The most that one VM takes of the host's disk. An emulated guest reaches neither limit. They keep a faster
 * guest, or one that only reads and writes, from starving its neighbours and the platform's own database.
 */
export const volumeLimits = { bytesPerSecond: 512 * 1024 * 1024, requestsPerSecond: 16_384 } as const

/** The most requests under way at once. Each has a thread of the VMM, whose address space is bounded. */
const maxWorkerThreads = 16

/**
 * `cache.direct=off`: the host caches, and a flush by the guest flushes the file. Zeroes are written as they
 * are: the guest itself says where it wants a hole. If the disk has no room, the VM stops
 * (`guest/keeper/stall.c`); any other failure is left to the guest.
 */
export function volumeArguments(volume: VolumeDevice | undefined): readonly string[] {
  if (volume === undefined) return []
  const access = volume.readonly ? 'on' : 'off'
  const limits = {
    'qom-type': 'throttle-group',
    id: 'volume-limits',
    limits: { 'bps-total': volumeLimits.bytesPerSecond, 'iops-total': volumeLimits.requestsPerSecond },
  }
  const file = `driver=file,node-name=volume-file,filename=/dev/fdset/${fdSet},locking=on,aio=threads,cache.direct=off`
  const throttle = 'driver=throttle,node-name=volume,file=volume-file,throttle-group=volume-limits'
  const nodes = [file, throttle].map((node) => `${node},discard=unmap,read-only=${access}`)
  const onError = volume.readonly ? '' : ',werror=enospc'
  return [
    '-add-fd',
    `fd=${volume.fd},set=${fdSet}`,
    '-object',
    `main-loop,id=main-loop,thread-pool-max=${maxWorkerThreads}`,
    '-object',
    JSON.stringify(limits),
    ...nodes.flatMap((node) => ['-blockdev', node]),
    '-device',
    `virtio-blk-device,drive=volume,serial=volume,write-cache=on,rerror=report${onError}`,
  ]
}
