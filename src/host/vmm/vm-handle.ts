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

/** Between spawning a keeper and its socket; only a starved host comes near it. */
const keeperUpLimitMs = 5_000
const keeperPollMs = 2

/**
 * One VM as this process follows it. The keeper tells its events over a connection while it lives; what it
 * left on disk is the truth afterwards. Emits `change` whenever more is known, `listening` and `ended` once,
 * `suspended` once in place of `ended`, `disabled` when the guest's word on standby changes, `stalled` when
 * it begins or ends to wait for the host's disk, and `word` with each of the keeper's answers.
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
  /** Set by `release`: the connection's end then says nothing about the VM. */
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

  /** Its process is gone, and there is an exit or a snapshot. */
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
      // It may have come and gone already: then it wrote down how.
      this.#readEvents()
      if (this.isOver) return true
      await delay(keeperPollMs)
    }
    return false
  }

  /** Finds out what became of a VM that an earlier process started: connects to it or reads how it ended. */
  async rediscover(): Promise<void> {
    if (!(await this.#connect())) return this.#settle()
    // The keeper repeats its events over the connection, but only in a moment: what is on disk is known at
    // once.
    this.#readEvents()
  }

  shutdown(graceMs: number): void {
    this.#link?.command(`shutdown ${Math.floor(graceMs)}`)
  }

  kill(cause: 'forced' | 'host-halted'): void {
    this.#link?.command(`kill ${cause}`)
  }

  /**
   * Sends a command and resolves with the keeper's word on it, one that begins with `about`; undefined when
   * the VM is over.
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

  /** Whether the keeper ever got as far as starting the VMM, or is alive and may be about to. */
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

  /** A keeper drops an agent that reads too slowly; far more often the VM has simply ended. */
  async #reconnect(): Promise<void> {
    this.#link = undefined
    this.#readEvents()
    if (this.isOver) return
    if (await this.#connect()) return
    this.#settle({ evenIfNeverSeen: true })
  }

  /**
   * The keeper is gone. If it could not say how the VM ended, that is written down now, once and for all
   * readers.
   */
  #settle({ evenIfNeverSeen = false } = {}): void {
    this.#readEvents()
    if (this.isOver || !(this.existed || evenIfNeverSeen)) return
    const how = this.record.hostBootId === this.#currentHostBootId ? 'lost' : 'host-halted'
    const atUs = Date.now() * 1000
    // The snapshot is there before the keeper says so, and then the VM is the snapshot: it must not be a lost
    // one as well.
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

/** Of a wait for a VM whose time was over. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}
