import { join } from 'node:path'
import type { NodeAssignment } from '../../domain/host/api-protocol.ts'
import type { HostTermOfVms } from '../vmm/vmm.ts'
import type { AgentLog } from './agent-ports.ts'
import { TermFile } from './term-file.ts'
import { lossIn, TermStateFile, termIn } from './term-state.ts'
import type { TermState } from './term-state.ts'

/**
 * How long before its deadline a term counts as over here. Keepers kill their VMs so early, too, and the
 * guard closes so early, so that a tool that needs a moment does not open it for too long.
 */
const aheadMs = 500
/** The guard is set again when it lags by this share of the term. Each time costs a process. */
const guardShare = 6
/**
 * The pause after a term could not begin. Keepers that do not answer delay the heartbeat by some seconds.
 */
const beginRetryMs = 30_000

export const termFileName = 'term'

/** What a heartbeat said of the term. An answer counts for exactly this heartbeat. */
export interface ToldTerm {
  /** The time of CLOCK_BOOTTIME before the heartbeat was sent. */
  readonly sentAtMs: number
  readonly termMs?: number
  readonly loss: number
}

export interface HostTermParts {
  readonly agentDirectory: string
  /** Reads CLOCK_BOOTTIME in milliseconds; see `openBootClock`. */
  readonly clock: () => number
  readonly hostBootId: string
  readonly vms: HostTermOfVms
  /** See `Network.guard`. */
  readonly guard: (leftMs: number | undefined) => Promise<void>
  /** Ends every VM, and resolves once all have ended. */
  readonly endAll: () => Promise<void>
  /** Removes every instance that is not this host's any more, at once. */
  readonly clearUp: () => Promise<void>
  readonly log: AgentLog
}

/**
 * The term of this host: until when its VMs may run. It is the only writer of the deadline. An answer of
 * the API extends the deadline to the time at which its heartbeat was sent, plus the term that this
 * heartbeat told.
 *
 *   no term --(the API asks for one, and all VMs keep it)--> runs --(renewed)--> runs
 *   runs --(deadline)--> over --(an answer)--> runs
 *   runs, over --(an answer to a heartbeat that told no term)--> no term
 *   any --(an answer with another loss)--> clearing up, over --(the next answer)--> runs, or no term
 *
 * The API may act upon a heartbeat whose answer is lost. So everything that a heartbeat promises holds
 * before it is sent: the deadline is never later than its time plus its term, and every keeper and the
 * network's guard have it. A term that only lies in the past is renewed by an answer alone.
 *
 * Its methods `tell`, `take` and `missed` are called one after the other, by the one sender of heartbeats.
 */
export class HostTerm {
  readonly #parts: HostTermParts
  readonly #file: TermFile
  readonly #stateFile: TermStateFile
  #state: TermState
  /**
   * The deadline in the file. Undefined: no term. 0: over since the machine or this agent's clearing began.
   */
  #deadlineMs: number | undefined
  /** The deadline that the guard has. Undefined: there is no guard. */
  #guardMs: number | undefined
  /** The term that the deadline was counted with, for messages. */
  #termMs = 0
  /** From when on a term that could not begin is tried again. */
  #beginAtMs = 0
  #isClearing = false
  /** Whether the keepers of all VMs have read the file since a term began or became shorter. */
  #isHeeded = false
  #isClosed = false
  /** Whether the end of the term has been logged and dealt with. */
  #isEndKnown = false
  /** Looks at the deadline when it should have come. Undefined without a term, and once the end is known. */
  #timer: NodeJS.Timeout | undefined
  /** The last failure that was logged. The same one is not logged again with every heartbeat. */
  #complaint: string | undefined

  private constructor(parts: HostTermParts, file: TermFile, stateFile: TermStateFile, state: TermState) {
    this.#parts = parts
    this.#file = file
    this.#stateFile = stateFile
    this.#state = state
  }

  /** Takes over what the last agent left. After a reboot a term that the API may know of is over. */
  static async open(parts: HostTermParts): Promise<HostTerm> {
    const stateFile = new TermStateFile(parts.agentDirectory)
    const state = await stateFile.load()
    const file = await TermFile.open(join(parts.agentDirectory, termFileName), parts.hostBootId)
    const term = new HostTerm(parts, file, stateFile, state)
    const found = await file.read()
    const unknown = state.isClaimed ? 0 : undefined
    await term.#recall(found === undefined ? unknown : found.deadlineMs)
    return term
  }

  async #recall(deadlineMs: number | undefined): Promise<void> {
    this.#termMs = this.#state.wantedMs ?? 0
    await this.#file.write(deadlineMs)
    this.#deadlineMs = deadlineMs
    this.#isEndKnown = deadlineMs === 0
    try {
      // Closed if this fails: the first renewal sets it again.
      this.#guardMs = 0
      await this.#setGuard(deadlineMs)
    } catch (error) {
      this.#complain('the guard of the term could not be set', error)
    }
    this.#watch()
  }

  /** How long the term lasts, if there is one. */
  secondsLeft(): number | undefined {
    if (this.#deadlineMs === undefined) return undefined
    return Math.max(0, this.#deadlineMs - this.#parts.clock()) / 1_000
  }

  /** Why no VM may start now. Undefined if one may. */
  refusal(): string | undefined {
    if (this.#isClearing || this.#state.isReturning === true)
      return 'this host was taken for lost, so it runs nothing until it has cleared up'
    if (!this.#isOver()) return undefined
    const since = this.#deadlineMs === 0 ? 'since it started' : `for ${this.#termMs / 1_000} s`
    return `this host has had no answer of the API ${since}, so it runs nothing until it has one`
  }

  /** Called right before a heartbeat is sent. What it returns is in that heartbeat. */
  async tell(): Promise<ToldTerm> {
    const sentAtMs = this.#parts.clock()
    const { loss, wantedMs: termMs } = this.#state
    if (termMs === undefined || !this.#parts.vms.isKept()) return { sentAtMs, loss }
    try {
      const isHeld = await this.#hold(sentAtMs + termMs, termMs)
      if (isHeld && !this.#state.isClaimed) await this.#save({ ...this.#state, isClaimed: true })
      return isHeld ? { sentAtMs, termMs, loss } : { sentAtMs, loss }
    } catch (error) {
      this.#complain('this host can not keep a term, so the API is told none', error)
      return { sentAtMs, loss }
    }
  }

  /** Called with the API's answer. Returns whether the next heartbeat is to be sent at once. */
  async take(told: ToldTerm, answer: Pick<NodeAssignment, 'termMs' | 'loss'>): Promise<boolean> {
    const loss = lossIn(answer.loss)
    if (this.#isClosed) return false
    try {
      if (loss !== undefined && loss !== told.loss) return await this.#clear(loss)
      if (this.#state.isReturning === true) await this.#return()
      if (told.termMs === undefined) await this.#lift()
      else if (loss !== undefined) await this.#renew(told.sentAtMs + told.termMs, told.termMs)
      await this.#note(told, termIn(answer.termMs))
      this.#complaint = undefined
    } catch (error) {
      const isCleared = !this.#isClearing && this.#state.isReturning !== true
      this.#complain(
        isCleared
          ? 'the term of this host could not be renewed; it will be tried again'
          : 'this host was taken for lost and could not clear up, so it runs nothing; it will be tried again',
        error,
      )
    }
    return false
  }

  /** Called when a heartbeat was not answered: the guard gets all the time that is left. */
  async missed(): Promise<void> {
    const isBehind = this.#deadlineMs !== undefined && this.#deadlineMs !== this.#guardMs
    if (this.#isClosed || !isBehind || this.#isOver()) return
    try {
      await this.#setGuard(this.#deadlineMs)
    } catch (error) {
      this.#complain('the guard of the term could not be set', error)
    }
  }

  /** Ends the work of this object. The deadline stays, and an answer that comes late changes nothing. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#file.close()
  }

  #isOver(): boolean {
    return this.#deadlineMs !== undefined && this.#parts.clock() >= this.#deadlineMs - aheadMs
  }

  /** Sees to it that there is a deadline, and none that is later than this one. */
  async #hold(deadlineMs: number, termMs: number): Promise<boolean> {
    const before = this.#deadlineMs
    if (this.#isHeeded && before !== undefined && before <= deadlineMs) return true
    if (this.#parts.clock() < this.#beginAtMs) return false
    this.#beginAtMs = this.#parts.clock() + beginRetryMs
    try {
      if (before === undefined || before > deadlineMs) {
        await this.#setGuard(deadlineMs)
        await this.#write(deadlineMs, termMs)
      }
      this.#isHeeded = await this.#parts.vms.heed()
      if (this.#isHeeded) {
        this.#beginAtMs = 0
        return true
      }
      throw new Error('the keeper of a VM does not answer')
    } catch (error) {
      this.#isHeeded = false
      if (before === undefined) await this.#lift()
      throw error
    }
  }

  async #renew(deadlineMs: number, termMs: number): Promise<void> {
    const isLate = deadlineMs - aheadMs <= this.#parts.clock()
    if (isLate || this.#deadlineMs === undefined || deadlineMs <= this.#deadlineMs) return
    const wasOver = this.#isOver()
    // The guard comes first. If it can not be set, VMs end too early, and not too late.
    if (deadlineMs - (this.#guardMs ?? 0) >= termMs / guardShare) await this.#setGuard(deadlineMs)
    await this.#write(deadlineMs, termMs)
    if (wasOver) this.#parts.log.info({}, 'the API answers again, so this host may run VMs again')
  }

  /** Ends the term without ending a VM. */
  async #lift(): Promise<void> {
    if (this.#deadlineMs !== undefined) await this.#file.write(undefined)
    this.#deadlineMs = undefined
    this.#isHeeded = false
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#guardMs !== undefined) await this.#setGuard(undefined)
  }

  /** Keeps what the next heartbeats should tell. */
  async #note(told: ToldTerm, wantedMs: number | undefined): Promise<void> {
    // A request without a term was answered, so the API knows that there is none.
    const isClaimed = told.termMs !== undefined
    if (wantedMs === this.#state.wantedMs && isClaimed === this.#state.isClaimed) return
    const { loss } = this.#state
    await this.#save({ ...(wantedMs !== undefined && { wantedMs }), isClaimed, loss })
  }

  /**
   * The host was lost, and its instances may run elsewhere. Nothing of them may be left before it goes on.
   */
  async #clear(loss: number): Promise<boolean> {
    const { log, endAll, clearUp } = this.#parts
    if (!this.#isClearing) {
      log.warn(
        { loss },
        'this host was taken for lost: its VMs end, and what is not its own any more is removed',
      )
    }
    this.#isClearing = true
    this.#isEndKnown = true
    await this.#file.write(0)
    this.#deadlineMs = 0
    // The VMs are ended here, so a guard that can not be set must not keep the host from its work for ever.
    await this.#setGuard(0).catch(() => undefined)
    await endAll()
    await clearUp()
    await this.#save({ ...this.#state, loss, isReturning: true })
    this.#isClearing = false
    return true
  }

  /**
   * The API has heard that this host has cleared up, and places nothing of it elsewhere from then on. What
   * it placed elsewhere after it had listed the instances is still here, with permits and snapshots, and goes
   * now.
   */
  async #return(): Promise<void> {
    await this.#parts.clearUp()
    const { isReturning: _, ...state } = this.#state
    await this.#save(state)
  }

  async #write(deadlineMs: number, termMs: number): Promise<void> {
    await this.#file.write(deadlineMs)
    this.#deadlineMs = deadlineMs
    this.#termMs = termMs
    this.#isEndKnown = false
    this.#watch()
  }

  /** Throws if the guard may not have the deadline, or may close too late. */
  async #setGuard(deadlineMs: number | undefined): Promise<void> {
    const { clock, guard } = this.#parts
    if (deadlineMs === undefined) {
      await guard(undefined)
      this.#guardMs = undefined
      return
    }
    const beganAtMs = clock()
    this.#guardMs = 0
    await guard(Math.max(0, deadlineMs - aheadMs - beganAtMs))
    if (deadlineMs > 0 && clock() - beganAtMs > aheadMs) throw new Error('the guard took too long to be set')
    this.#guardMs = deadlineMs
  }

  async #save(state: TermState): Promise<void> {
    await this.#stateFile.save(state)
    this.#state = state
  }

  /** Keepers end their VMs by themselves. This is for the log, and for VMs without a keeper. */
  #watch(): void {
    if (this.#timer !== undefined || this.#deadlineMs === undefined || this.#isEndKnown) return
    const leftMs = this.#deadlineMs - aheadMs - this.#parts.clock()
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        if (this.#isOver() && !this.#isEndKnown) this.#end()
        else this.#watch()
      },
      Math.max(0, leftMs),
    )
    this.#timer.unref()
  }

  #end(): void {
    const { log, endAll } = this.#parts
    this.#isEndKnown = true
    endAll().then(
      () => log.warn({}, `no answer of the API for ${this.#termMs / 1_000} s: all VMs have ended`),
      (error: unknown) =>
        log.error({ err: error }, 'the term of this host is over, and a VM could not be ended'),
    )
  }

  #complain(complaint: string, error: unknown): void {
    if (complaint === this.#complaint) return
    this.#complaint = complaint
    this.#parts.log.error({ err: error }, complaint)
  }
}
