import type { InstanceState } from '../domain/instance/state.ts'
import type { LimitBreach, QuotaExcess } from '../domain/account/quotas.ts'
import type { RolloutPhase } from '../domain/rollout/phase.ts'
import type { VolumeState } from '../domain/volume/state.ts'

interface Named {
  readonly uuid: string
  readonly name: string
}

interface Placed {
  readonly name: string
  readonly nodeId: string
}

/**
 * Why a change of instances, services, certificates, volumes, tokens, schedules, rollouts or autoscale
 * configurations was not made.
 */
export type WriteRefusal =
  | { readonly kind: 'limit'; readonly breach: LimitBreach }
  | { readonly kind: 'quota'; readonly excess: QuotaExcess }
  /** The account may create no more until hosts have removed more of its deleted objects. */
  | { readonly kind: 'deleted-excess'; readonly excess: QuotaExcess }
  | { readonly kind: 'name-taken'; readonly name: string }
  /**
   * No host has sent a heartbeat lately. `heardAt` is the time of the last one; it is absent if no host ever
   * joined.
   */
  | { readonly kind: 'no-node'; readonly heardAt?: Date }
  /** Administrators cordoned all hosts that have sent a heartbeat lately. */
  | { readonly kind: 'all-cordoned' }
  /** Every private address of the host is taken. */
  | { readonly kind: 'no-address' }
  | { readonly kind: 'too-many-tokens'; readonly limit: number }
  /** The account was removed meanwhile. */
  | { readonly kind: 'no-user' }
  | { readonly kind: 'service-name-taken'; readonly name: string }
  | { readonly kind: 'service-not-found'; readonly by: 'uuid' | 'name'; readonly value: string }
  /** Some user, this one or another, has the domain. */
  | { readonly kind: 'domain-taken'; readonly fqdn: string }
  /** A port was to be taken away that the service does not publish. */
  | {
      readonly kind: 'port-not-published'
      readonly name: string
      readonly port: number
      readonly ports: readonly number[]
    }
  /** A domain was to be taken away that the service does not have. */
  | {
      readonly kind: 'domain-not-held'
      readonly name: string
      readonly fqdn: string
      readonly domains: readonly string[]
    }
  | { readonly kind: 'soft-above-hard'; readonly soft: number; readonly hard: number }
  /** A service would have more ports or domains than one may have. */
  | {
      readonly kind: 'too-many-parts'
      readonly of: 'services' | 'domains'
      readonly count: number
      readonly limit: number
    }
  | { readonly kind: 'certificate-not-found'; readonly by: 'uuid' | 'name'; readonly value: string }
  | { readonly kind: 'certificate-mismatch'; readonly commonName: string; readonly fqdn: string }
  /** None of the user's certificates fits, and none can be requested for a wildcard. */
  | { readonly kind: 'wildcard-without-certificate'; readonly fqdn: string }
  | { readonly kind: 'too-many-certificates'; readonly limit: number }
  | { readonly kind: 'certificate-name-taken'; readonly name: string }
  /** The certificate has expired. It was uploaded, so the platform does not renew it. */
  | { readonly kind: 'certificate-expired'; readonly name: string; readonly at: Date }
  /** The certificate can not be deleted: this domain of this service uses it, and maybe other domains do. */
  | {
      readonly kind: 'certificate-attached'
      readonly name: string
      readonly service: string
      readonly fqdn: string
    }
  /**
   * There is no room for `count` instances that need `neededMb` each. `roomiestMb` is the free memory of the
   * host that has most of it.
   */
  | {
      readonly kind: 'no-memory-room'
      readonly neededMb: number
      readonly count: number
      readonly roomiestMb: number
    }
  /** The instance is a clone. It is made after its master, and may go at any time. */
  | { readonly kind: 'change-of-clone'; readonly name: string }
  /** The host has not so much more memory as the changed instance needs. */
  | {
      readonly kind: 'no-more-memory'
      readonly name: string
      readonly moreMb: number
      readonly roomMb: number
    }
  /** The arguments or variables together are too long for a process. */
  | {
      readonly kind: 'process-too-long'
      readonly what: string
      readonly bytes: number
      readonly limit: number
    }
  /** The instance would have more variables, or more tags, than it may have. */
  | {
      readonly kind: 'too-many-members'
      readonly what: string
      readonly count: number
      readonly limit: number
    }
  | { readonly kind: 'schedule-name-taken'; readonly name: string }
  | { readonly kind: 'too-many-schedules'; readonly limit: number }
  | VolumeWriteRefusal
  | AutoscaleRefusal
  | RolloutRefusal

/** Why a rollout does not begin, or does not go back. */
export type RolloutRefusal =
  | { readonly kind: 'rollout-under-way'; readonly name: string; readonly phase: RolloutPhase }
  /** It was to be superseded, and is at a point from which it goes on by itself. */
  | {
      readonly kind: 'rollout-can-not-end'
      readonly name: string
      readonly phase: RolloutPhase
      readonly reason: string
    }
  | { readonly kind: 'nothing-to-roll-out'; readonly name: string }
  | { readonly kind: 'nothing-to-check'; readonly name: string }
  | { readonly kind: 'volume-in-steps'; readonly name: string; readonly instance: string }
  | { readonly kind: 'nothing-to-go-back-to'; readonly name: string }
  /** An instance of the service got another image while the rollout was asked for. */
  | { readonly kind: 'image-changed'; readonly name: string }
  | { readonly kind: 'rollout-goes-back'; readonly name: string; readonly reason: string }

export type VolumeWriteRefusal =
  | { readonly kind: 'volume-name-taken'; readonly name: string }
  | { readonly kind: 'volume-not-found'; readonly by: 'uuid' | 'name'; readonly value: string }
  | { readonly kind: 'instance-not-found'; readonly by: 'uuid' | 'name'; readonly value: string }
  /** `failure` is the reason if the state is `error`. */
  | {
      readonly kind: 'volume-not-available'
      readonly name: string
      readonly state: VolumeState
      readonly attachedTo: Named | null
      readonly failure: string | null
    }
  /** An existing volume can not be given to several instances. */
  | { readonly kind: 'volume-with-replicas'; readonly name: string; readonly replicas: number }
  /** An instance can only be on the host of its volume, and that host has sent no heartbeat lately. */
  | { readonly kind: 'volume-host-silent'; readonly name: string; readonly nodeId: string }
  /** A new instance can only be on the host of its volume, and an administrator cordoned that host. */
  | { readonly kind: 'volume-host-cordoned'; readonly name: string; readonly nodeId: string }
  /**
   * There is no room for `count` volumes of `sizeMb` each. `roomiestMb` is the free room of the host that
   * has most of it.
   */
  | {
      readonly kind: 'no-volume-room'
      readonly sizeMb: number
      readonly count: number
      readonly roomiestMb: number
    }
  | { readonly kind: 'volume-elsewhere'; readonly volume: Placed; readonly instance: Placed }
  /**
   * The instance is not stopped, or it is stopped and about to start. In the second case `state` is
   * `stopped`.
   */
  | { readonly kind: 'instance-not-stopped'; readonly name: string; readonly state: InstanceState }
  | { readonly kind: 'instance-has-volume'; readonly name: string; readonly volume: Named }
  /**
   * The volume can not be detached from this instance, which is not stopped or is about to start. In the
   * second case `state` is `stopped`.
   */
  | {
      readonly kind: 'volume-mounted'
      readonly name: string
      readonly instance: Named & { readonly state: InstanceState }
    }
  /** The volume can not be deleted while an instance has it. */
  | { readonly kind: 'volume-attached'; readonly name: string; readonly instance: Named }
  /** The volume can not be detached from this instance, which does not have it. */
  | { readonly kind: 'volume-not-attached'; readonly name: string; readonly instance: Named }
  /** The instance is a clone. Autoscale made it, and may give it back at any time. */
  | { readonly kind: 'volume-for-clone'; readonly name: string }
  /** The instance is the master of an autoscaled service, and clones have no volume. */
  | { readonly kind: 'volume-for-master'; readonly name: string; readonly service: string }

export type AutoscaleRefusal =
  | { readonly kind: 'autoscale-disabled' }
  | { readonly kind: 'autoscale-size'; readonly breach: LimitBreach<'min_size' | 'max_size'> }
  | { readonly kind: 'autoscale-sizes-crossed'; readonly min: number; readonly max: number }
  | { readonly kind: 'autoscale-configured'; readonly service: string; readonly master: string }
  | { readonly kind: 'autoscale-not-configured'; readonly service: string }
  | { readonly kind: 'master-is-clone'; readonly name: string }
  | { readonly kind: 'master-not-attached'; readonly name: string; readonly service: string }
  | { readonly kind: 'master-has-volume'; readonly name: string; readonly volume: string }
  | { readonly kind: 'policy-taken'; readonly name: string }
  | { readonly kind: 'policy-not-found'; readonly name: string }
  | { readonly kind: 'too-many-policies'; readonly limit: number }

/** Thrown inside a transaction to roll it back with a refusal. It never leaves `src/db`. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly refusal: WriteRefusal

  constructor(refusal: WriteRefusal) {
    super(refusal.kind)
    this.refusal = refusal
  }
}

/** Calls `write` and returns its answer, or the refusal that it threw. Other errors are thrown on. */
export async function orRefusal<T>(
  write: () => Promise<T>,
): Promise<
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: WriteRefusal }
> {
  try {
    return { ok: true, value: await write() }
  } catch (error) {
    if (error instanceof Refused) return { ok: false, refusal: error.refusal }
    throw error
  }
}
