/**
 * What a witness knows of the boots of instances: when each one answered first and last. From that follows
 * whether an instance ever had two VMs at once.
 *
 * All times are milliseconds of the witness's own monotonic clock, which all processes of a machine share.
 */

/** One answer of an application, and what it said of itself. */
export interface BootAnswer {
  readonly instance: string
  /** A random word that the application chose when it began. A memory that is kept keeps it. */
  readonly boot: string
  /** How long the application had been running when it answered, by the guest's own clock. */
  readonly ageMs: number
  /** On which host the VM was asked directly. Absent: the gateway was asked. */
  readonly host?: string
  readonly sentMs: number
  readonly receivedMs: number
}

export interface BootSeen {
  readonly boot: string
  /** The application had begun by then: the reception of an answer, less the age that the answer told. */
  readonly begunMs: number
  readonly firstMs: number
  readonly lastMs: number
  /** When the request for the last answer was sent. */
  readonly lastSentMs: number
  readonly answers: number
  /** The hosts on which it answered directly. */
  readonly hosts: ReadonlySet<string>
}

interface BootKept {
  begunMs: number
  firstMs: number
  lastMs: number
  lastSentMs: number
  answers: number
  readonly hosts: Set<string>
}

export class BootRecord {
  readonly #instances = new Map<string, Map<string, BootKept>>()

  note({ instance, boot, ageMs, host, sentMs, receivedMs }: BootAnswer): void {
    const boots = this.#instances.get(instance) ?? new Map<string, BootKept>()
    this.#instances.set(instance, boots)
    const kept = boots.get(boot) ?? {
      begunMs: Infinity,
      firstMs: receivedMs,
      lastMs: receivedMs,
      lastSentMs: sentMs,
      answers: 0,
      hosts: new Set<string>(),
    }
    boots.set(boot, kept)
    kept.begunMs = Math.min(kept.begunMs, receivedMs - ageMs)
    kept.firstMs = Math.min(kept.firstMs, receivedMs)
    if (receivedMs > kept.lastMs) {
      kept.lastMs = receivedMs
      kept.lastSentMs = sentMs
    }
    kept.answers += 1
    if (host !== undefined) kept.hosts.add(host)
  }

  /** The boots of an instance that answered, in the order in which they began. */
  boots(instance: string): readonly BootSeen[] {
    return [...(this.#instances.get(instance) ?? [])]
      .map(([boot, kept]) => ({ boot, ...kept }))
      .toSorted((one, other) => one.begunMs - other.begunMs)
  }

  /**
   * Every proof that the instance had two VMs at once: an answer of one boot came after the application of a
   * later boot had begun, or one boot answered on two hosts. Of each boot only the earliest beginning that is
   * certain counts, so a slow answer proves nothing that is not so.
   */
  proofsOfTwo(instance: string): readonly string[] {
    const boots = this.boots(instance)
    const onTwoHosts = boots
      .filter(({ hosts }) => hosts.size > 1)
      .map(({ boot, hosts }) => `${instance}: boot ${boot} answered on ${[...hosts].join(' and ')}`)
    return [
      ...onTwoHosts,
      ...boots.flatMap((later, index) => overlaps(instance, boots.slice(0, index), later)),
    ]
  }
}

function overlaps(instance: string, earlier: readonly BootSeen[], later: BootSeen): readonly string[] {
  return earlier
    .filter(({ lastMs }) => lastMs >= later.begunMs)
    .map(
      ({ boot, lastMs, lastSentMs }) =>
        `${instance}: boot ${boot} answered ${Math.round(lastMs - later.begunMs)} ms after boot ${later.boot} had begun, ` +
        `${Math.round(lastMs - lastSentMs)} ms after it was asked`,
    )
}
