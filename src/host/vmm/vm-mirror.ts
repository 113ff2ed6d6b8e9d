import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connectKeeperSocket } from './keeper-link.ts'
import { serveMirror } from './nbd-server.ts'
import { findEvent } from './vm-events.ts'
import type { VmHandle } from './vm-handle.ts'
import { VmmError } from './vmm.ts'
import type { MirrorTarget, VolumeMirror } from './volume-mirror.ts'

/** How long a keeper may take to answer. One of an earlier version does not answer at all. */
const answerLimitMs = 5_000
/** What the keeper tells first: all events so far, which fit into its memory. */
const answerMaxBytes = 1024 * 1024

/**
 * How long a VM that is suspended may wait for the rest. If the guest writes faster than the target takes it
 * in, the volume is rather copied as a whole afterwards.
 */
const restLimitMs = 10_000

/** The mirrors of a host's VMs; see `Vmm.mirror` and `guest/keeper/mirror.c`. */
export class VmMirrors {
  readonly #under = new Map<VmHandle, VmMirror>()

  async begin(vm: VmHandle | undefined, target: MirrorTarget): Promise<VolumeMirror> {
    if (vm === undefined) throw refused('it does not run')
    const mirror = await mirrorVolume(vm, target)
    this.#under.set(vm, mirror)
    void mirror.over.then(() => {
      if (this.#under.get(vm) === mirror) this.#under.delete(vm)
    })
    return mirror
  }

  /** Does work during which the VM stands still, and bounds how long that waits for the mirror. */
  async bound<T>(vm: VmHandle, work: () => Promise<T>): Promise<T> {
    const mirror = this.#under.get(vm)
    if (mirror?.hasAll() === false) mirror.cancel()
    const timer = setTimeout(() => mirror?.cancel(), restLimitMs)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
    }
  }

  close(): void {
    for (const mirror of this.#under.values()) mirror.cancel()
  }
}

interface VmMirror extends VolumeMirror {
  hasAll(): boolean
}

async function mirrorVolume(vm: VmHandle, target: MirrorTarget): Promise<VmMirror> {
  const words: string[] = []
  const isOver = Promise.withResolvers<void>()
  const isReady = Promise.withResolvers<boolean>()
  let number: string | undefined
  const hears = (what: string) => number !== undefined && words.includes(`mirror ${number} ${what}`)
  let socket: Socket | undefined
  const cancel = () => {
    isOver.resolve()
    socket?.destroy()
  }
  const look = () => {
    if (hears('ready')) isReady.resolve(true)
    if (hears('failed') || vm.isOver) isOver.resolve()
    // The end of the VMM waits for the mirror.
    if (findEvent(vm.events, 'shutdown') !== undefined) cancel()
  }
  const listen = (word: string) => {
    if (word.startsWith('mirror ')) words.push(word)
    // The VM runs on, and writes what the target does not get any more.
    if (word.startsWith('suspend failed')) cancel()
    look()
  }
  vm.on('word', listen)
  vm.on('change', look)
  const unlisten = () => {
    vm.off('word', listen)
    vm.off('change', look)
  }
  try {
    socket = await connectKeeperSocket(vm.directory)
    if (socket === undefined) throw refused('it has ended')
    number = await begin(socket)
    const serving = serveMirror(socket, target).finally(() => socket?.destroy())
    const over = (async () => {
      const isServed = await serving.then(
        () => true,
        () => false,
      )
      // Whoever served all may yet hear that the VM runs on. Else there is nothing to wait for.
      if (isServed) await isOver.promise
      unlisten()
      isReady.resolve(false)
      return isServed && hears('complete') && vm.isSuspended
    })()
    look()
    return { ready: isReady.promise, over, cancel, hasAll: () => hears('ready') }
  } catch (error) {
    unlisten()
    throw error
  }
}

/** Asks the keeper, and returns the mirror's number. From then on the connection is the VMM's. */
async function begin(socket: Socket): Promise<string> {
  let text = ''
  socket.write('mirror\n')
  const signal = AbortSignal.timeout(answerLimitMs)
  try {
    for (;;) {
      const [chunk] = (await once(socket, 'data', { signal })) as [Buffer]
      text += chunk.toString('latin1')
      const answer = /^~ mirror (begins|refused) (.*)\n/m.exec(text)
      if (answer?.[1] === 'begins') return answer[2]!
      if (answer !== null) throw refused(answer[2]!)
      if (text.length > answerMaxBytes) throw refused('its keeper does not answer')
    }
  } catch (cause) {
    socket.destroy()
    throw cause instanceof VmmError ? cause : refused('its keeper does not answer', cause)
  }
}

function refused(why: string, cause?: unknown): VmmError {
  return new VmmError('BootFailed', `the volume of the VM can not be copied while it runs: ${why}`, { cause })
}
