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
  readonly #under = new Map<VmHandle, Slot>()

  async begin(vm: VmHandle | undefined, target: MirrorTarget): Promise<VolumeMirror> {
    if (vm === undefined) throw refused('it does not run')
    if (this.#under.has(vm)) throw refused('it is being copied already')
    const slot: Slot = { controller: new AbortController() }
    this.#under.set(vm, slot)
    try {
      slot.mirror = await mirrorVolume(vm, target, slot.controller)
    } catch (error) {
      this.#under.delete(vm)
      throw error
    }
    void slot.mirror.over.then(() => this.#under.delete(vm))
    return slot.mirror
  }

  /** Does work during which the VM stands still, and bounds how long that waits for the mirror. */
  async bound<T>(vm: VmHandle, work: () => Promise<T>): Promise<T> {
    const slot = this.#under.get(vm)
    if (slot?.mirror?.hears('ready') !== true) slot?.controller.abort()
    const timer = setTimeout(() => {
      if (slot?.mirror?.hears('complete') !== true) slot?.controller.abort()
    }, restLimitMs)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
    }
  }

  close(): void {
    for (const { controller } of this.#under.values()) controller.abort()
  }
}

interface VmMirror extends VolumeMirror {
  /** Whether the keeper has said this of the mirror. */
  hears(what: 'ready' | 'complete'): boolean
}

interface Slot {
  readonly controller: AbortController
  mirror?: VmMirror
}

async function mirrorVolume(
  vm: VmHandle,
  target: MirrorTarget,
  controller: AbortController,
): Promise<VmMirror> {
  const words: string[] = []
  const isOver = Promise.withResolvers<void>()
  const isReady = Promise.withResolvers<boolean>()
  const isCut = Promise.withResolvers<void>()
  let number: string | undefined
  const hears = (what: string) => number !== undefined && words.includes(`mirror ${number} ${what}`)
  let socket: Socket | undefined
  const cancel = () => controller.abort()
  const cut = () => {
    isOver.resolve()
    isCut.resolve()
    socket?.destroy()
  }
  controller.signal.addEventListener('abort', cut, { once: true })
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
    if (controller.signal.aborted) cut()
    number = await begin(socket)
    // The target may never answer any more.
    const cutOff = isCut.promise.then(() => Promise.reject(new Error('it was called off')))
    const serving = Promise.race([serveMirror(socket, target), cutOff]).finally(() => socket?.destroy())
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
    return { ready: isReady.promise, over, cancel, hears }
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
