/**
 * The disk that is an instance's volume, for the VMM's command line. The VMM gets the file as a descriptor
 * and opens nothing, so the file stays its owner's whoever the VMM runs as; its own lock on it, which goes
 * with the descriptor, keeps a second VMM out.
 */
export interface VolumeDevice {
  readonly fd: number
  readonly readonly: boolean
}

/** Which of the VMM's sets of descriptors; there is only this one. */
const fdSet = 1

/**
 * One VM's share of the host's disk. An emulated guest reaches neither; they keep one that is faster, or that
 * does nothing else, from starving its neighbours and the platform's own database beside it.
 */
export const volumeLimits = { bytesPerSecond: 512 * 1024 * 1024, requestsPerSecond: 16_384 } as const

/** Requests under way at once. Each has a thread of the VMM's, whose address space is bounded. */
const maxWorkerThreads = 16

/**
 * `cache.direct=off`: the host caches, and a flush of the guest is one of the file. Zeroes are written as
 * they are: the guest says by itself where it means to have a hole. For want of room the VM stops
 * (`guest/keeper/stall.c`), any other failure is the guest's to handle.
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
