import type { Admission, AdmissionTiming, Ask, EndReason } from '../traffic.ts'
import type { Entry, Roster } from '../roster.ts'

/** An instance, as the admissions that it let in see it. */
export interface AdmittedTo {
  readonly uuid: string
  /** The admissions that want to know when the boot ends. */
  readonly listening: Roster<InstanceAdmission>
  /**
   * Returns why the instance ends, or undefined if it does not: the reason that an earlier listener would
   * already have heard.
   */
  endOf(admission: InstanceAdmission): 'close' | 'gone' | undefined
  /** Whether the instance has given its lease back since, or has another boot by now. */
  hasSlept(admission: InstanceAdmission): boolean
  /** Ends an admission, which is no longer counted then. */
  release(admission: InstanceAdmission): void
  /** Called when an admission carried bytes. */
  touch(): void
  /**
   * Called for a connection during which the instance may have fallen asleep. Returns undefined if the
   * instance is awake. Otherwise resolves once it is awake: true if the connection is still valid, else
   * false.
   */
  awaken(admission: InstanceAdmission): Promise<boolean> | undefined
}

/** One request or connection that was let in. It is counted from its creation until `done`. */
export class InstanceAdmission implements Admission {
  readonly admitted = true
  readonly rolloutUuid: string | undefined
  readonly boot: number
  readonly memoryBoot: number
  readonly host: string
  readonly port: number
  readonly fresh: boolean
  readonly timing: AdmissionTiming
  readonly kind: Ask['kind']
  readonly #instance: AdmittedTo
  #listed: Entry<InstanceAdmission> | undefined
  #listener: ((why: EndReason) => void) | undefined
  /** Whether the listener was told of the shutdown. */
  #saidClose = false
  #over = false

  constructor(
    instance: AdmittedTo,
    options: {
      readonly rolloutUuid: string | undefined
      readonly boot: number
      readonly memoryBoot: number
      readonly address: { readonly host: string; readonly port: number }
      readonly fresh: boolean
      readonly timing: AdmissionTiming
      readonly kind: Ask['kind']
    },
  ) {
    this.#instance = instance
    this.rolloutUuid = options.rolloutUuid
    this.boot = options.boot
    this.memoryBoot = options.memoryBoot
    this.host = options.address.host
    this.port = options.address.port
    this.fresh = options.fresh
    this.timing = options.timing
    this.kind = options.kind
  }

  get instanceUuid(): string {
    return this.#instance.uuid
  }

  get slept(): boolean {
    return this.#instance.hasSlept(this)
  }

  done(): void {
    if (this.#over) return
    this.#over = true
    this.#instance.release(this)
  }

  onEnd(listener: (why: EndReason) => void): () => void {
    this.#listener = listener
    this.#saidClose = false
    this.#listed ??= this.#instance.listening.add(this)
    const ended = this.#instance.endOf(this)
    if (ended !== undefined) this.end(ended)
    return () => {
      if (this.#listener !== listener) return
      this.unlisten()
    }
  }

  end(why: EndReason): void {
    const listener = this.#listener
    if (listener === undefined || (why === 'close' && this.#saidClose)) return
    this.#saidClose = true
    if (why !== 'close') this.unlisten()
    listener(why)
  }

  /** Stops listening, at the listener's wish or because the admission is over. */
  unlisten(): void {
    this.#listener = undefined
    if (this.#listed !== undefined) this.#instance.listening.remove(this.#listed)
    this.#listed = undefined
  }

  touch(): void {
    this.#instance.touch()
  }

  awaken(): Promise<boolean> | undefined {
    return this.#instance.awaken(this)
  }
}
