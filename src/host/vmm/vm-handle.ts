import { EventEmitter } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ExitReport } from '../../domain/instance/exit-report.ts'
import { connectKeeper } from './keeper-link.ts'
import type { KeeperLink } from './keeper-link.ts'
import { hasSnapshotOf } from './snapshot-files.ts'
import { isMissing } from './vm-record.ts'
import type { VmRecord } from './vm-record.ts'
import { exitReportOf, findEvent, parseVmEvents, startReportOf, wasSuspended } from './vm-events.ts'
import type { VmEvent } from './vm-events.ts'
import type { VmName, VmStatus } from './vmm.ts'

/**
 * The longest wait for the socket of a keeper that was spawned. Only a host that is short of processor time
 * comes near it.
 */
const keeperUpLimitMs = 5_000
const keeperPollMs = 2

/**
 * One VM as this process follows it. While the keeper lives, it sends its events over a connection;
 * afterwards the events are read from the file that it left. Emits `change` whenever more is known;
 * `listening` and `ended` once; `suspended` once instead of `ended`; `disabled` when the guest begins or
 * ceases to speak against standby; `stalled` when the VM begins or ceases to wait for room on the host's
 * disk; and `word` with each message of the keeper that is not an event.
 */
export class VmHandle extends EventEmitter<{
  change: []
  listening: []
  ended: [ExitReport]
  suspended: []
  disabled: [boolean]
  stalled: [boolean]
  word: [string]
}> {
  readonly directory: string
  readonly record: VmRecord
  readonly #currentHostBootId: string
  #events: readonly VmEvent[] = []
  #link: KeeperLink | undefined
  #disabled: boolean | undefined
  #stalled: boolean | undefined
  /** Set by `release`. From then on the end of the connection says nothing about the VM. */
  #released = false

  constructor(options: { directory: string; record: VmRecord; hostBootId: string }) {
    super()
    this.directory = options.directory
    this.record = options.record
    this.#currentHostBootId = options.hostBootId
  }

  get name(): VmName {
    return { instanceUuid: this.record.instanceUuid, boot: this.record.boot }
  }

  get events(): readonly VmEvent[] {
    return this.#events
  }

  get exit(): ExitReport | undefined {
    return exitReportOf(this.record, this.#events)
  }

  /** The VM's process is gone, and there is an exit or a snapshot. */
  get isOver(): boolean {
    return findEvent(this.#events, 'ended') !== undefined
  }

  get isSuspended(): boolean {
    return wasSuspended(this.#events)
  }

  get status(): VmStatus {
    const started = startReportOf(this.record, this.#events)
    const { exit } = this
    return {
      ...this.name,
      ...(started === undefined ? {} : { started }),
      ...(this.#disabled === undefined ? {} : { disabled: this.#disabled }),
      ...(this.#stalled === true && !this.isOver ? { stalled: true } : {}),
      ...(exit === undefined ? {} : { exit }),
    }
  }

  /** Waits for the keeper that was just spawned. False when it did not come up. */
  async awaitKeeper(): Promise<boolean> {
    const deadlineMs = Date.now() + keeperUpLimitMs
    while (Date.now() < deadlineMs) {
      if (await this.#connect()) return true
      // The keeper may have ended already. Its events then say how.
      this.#readEvents()
      if (this.isOver) return true
      await delay(keeperPollMs)
    }
    return false
  }

  /**
   * Finds out what became of a VM that an earlier process started: connects to its keeper, or reads how it
   * ended.
   */
  async rediscover(): Promise<void> {
    if (!(await this.#connect())) return this.#settle()
    // The keeper repeats its events over the connection, but that takes a moment. The file has them at once.
    this.#readEvents()
  }

  shutdown(graceMs: number): void {
    this.#link?.command(`shutdown ${Math.floor(graceMs)}`)
  }

  kill(cause: 'forced' | 'host-halted'): void {
    this.#link?.command(`kill ${cause}`)
  }

  /**
   * Sends a command and resolves with the keeper's answer, without the words `about` with which the answer
   * begins. Undefined if the VM is over.
   */
  async ask(command: string, about: string, signal: AbortSignal): Promise<string | undefined> {
    let answer: string | undefined
    const listen = (word: string) => {
      if (word.startsWith(about)) answer ??= word.slice(about.length).trim()
    }
    this.on('word', listen)
    try {
      this.#link?.command(command)
      await this.until(() => answer !== undefined, signal)
      return answer
    } finally {
      this.off('word', listen)
    }
  }

  stayAwake(): void {
    this.#link?.command('awake')
  }

  /** Whether the keeper has ever started the VMM, or lives and may be about to. */
  get existed(): boolean {
    return this.#link !== undefined || findEvent(this.#events, 'qemu') !== undefined
  }

  release(): void {
    this.#released = true
    this.#link?.close()
  }

  /** Resolves when `condition` holds or the VM has ended; rejects when the signal aborts. */
  async until(condition: () => boolean, signal: AbortSignal): Promise<void> {
    if (condition() || this.isOver) return
    await new Promise<void>((resolve, reject) => {
      const check = () => {
        if (condition() || this.isOver) finish(resolve)
      }
      const abort = () => finish(() => reject(signal.reason as Error))
      const finish = (settle: () => void) => {
        this.off('change', check)
        signal.removeEventListener('abort', abort)
        settle()
      }
      this.on('change', check)
      signal.addEventListener('abort', abort)
      if (signal.aborted) abort()
    })
  }

  async #connect(): Promise<boolean> {
    const link = await connectKeeper(this.directory)
    if (link === undefined) return false
    this.#link = link
    link.on('text', (text) => this.#learn(text))
    link.on('word', (word) => this.#hear(word))
    link.once('close', () => {
      if (!this.#released) void this.#reconnect()
    })
    return true
  }

  /**
   * Called when the connection broke. A keeper drops an agent that reads too slowly; far more often the VM
   * has ended.
   */
  async #reconnect(): Promise<void> {
    this.#link = undefined
    this.#readEvents()
    if (this.isOver) return
    if (await this.#connect()) return
    this.#settle({ evenIfNeverSeen: true })
  }

  /**
   * Called when the keeper is gone. If the keeper did not write down how the VM ended, this method writes it
   * down for all later readers.
   */
  #settle({ evenIfNeverSeen = false } = {}): void {
    this.#readEvents()
    if (this.isOver || !(this.existed || evenIfNeverSeen)) return
    const how = this.record.hostBootId === this.#currentHostBootId ? 'lost' : 'host-halted'
    const atUs = Date.now() * 1000
    // The snapshot is complete a moment before the keeper reports it. If the keeper ended in between, the VM
    // has become its snapshot and must not also count as lost.
    const slept = hasSnapshotOf(path.dirname(this.directory), this.record.boot)
    const suspended = slept ? `${atUs} suspended\n` : ''
    appendFileSync(this.#eventsPath, `\n${suspended}${atUs} ended ${how} cpu_us 0\n`)
    this.#readEvents()
  }

  get #eventsPath(): string {
    return path.join(this.directory, 'events')
  }

  #readEvents(): void {
    try {
      this.#learn(readFileSync(this.#eventsPath, 'utf8'))
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }

  #hear(word: string): void {
    if (/^disabled [01]$/.test(word)) {
      const disabled = word.endsWith('1')
      const changed = disabled !== (this.#disabled ?? false)
      this.#disabled = disabled
      if (changed) this.emit('disabled', disabled)
    }
    if (/^stalled [01]$/.test(word)) {
      const stalled = word.endsWith('1')
      const changed = stalled !== (this.#stalled ?? false)
      this.#stalled = stalled
      if (changed) this.emit('stalled', stalled)
    }
    this.emit('word', word)
    this.emit('change')
  }

  #learn(text: string): void {
    const wasOver = this.isOver
    const listenedBefore = findEvent(this.#events, 'listen') !== undefined
    const events = parseVmEvents(text)
    if (events.length <= this.#events.length) return
    this.#events = events
    this.emit('change')
    if (!listenedBefore && findEvent(events, 'listen') !== undefined) this.emit('listening')
    const { exit } = this
    if (wasOver || !this.isOver) return
    if (exit === undefined) this.emit('suspended')
    else this.emit('ended', exit)
  }
}

/** Whether the error came from a wait whose time limit had passed. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}
