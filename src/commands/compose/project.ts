import type { AutoscaleMetric } from '../../domain/autoscale/policy.ts'
import type { Finding, Place } from './findings.ts'

/** What a file asks for, before the images are looked for. */
export interface Project {
  readonly name: string
  /** In the order of the file. */
  readonly services: readonly ProjectService[]
  readonly volumes: readonly ProjectVolume[]
  readonly notes: readonly Finding[]
}

export interface ProjectService extends Place {
  /** The name in the file, by which the other services of the project reach it. */
  readonly key: string
  readonly image: Written
  /** Absent: the image's own. */
  readonly args?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly memoryMb?: Amount
  readonly vcpus?: Amount
  readonly restart: Restart
  readonly replicas: number
  /** What the labels become, besides the tag of the project. */
  readonly tags: readonly string[]
  readonly mount?: Mount
  readonly ports: readonly PublicPort[]
  /** Absent: one that the platform makes. */
  readonly domains?: readonly string[]
  readonly sleep: Sleep
  readonly autoscale?: Autoscale
  readonly rollout: RolloutWishes
  readonly dependsOn: readonly Dependency[]
  readonly health?: HealthCheck
}

export type Restart = 'never' | 'always' | 'on-failure'

export interface Written extends Place {
  readonly text: string
}
export interface Amount extends Place {
  readonly value: number
}

/** The volume of an instance. It is named as on the platform. */
export interface Mount extends Place {
  readonly volume: string
  readonly at: string
  readonly readonly: boolean
}

export interface PublicPort {
  readonly port: number
  readonly destinationPort: number
}

export interface Sleep {
  readonly policy: 'off' | 'on' | 'idle'
  readonly stateful: boolean
  /** Absent: the platform's default. */
  readonly cooldownMs?: number
}

export interface Autoscale {
  readonly min: number
  readonly max: number
  readonly metric: AutoscaleMetric
  /** The mean per instance that is aimed at. */
  readonly target: number
}

/** How a new version is brought in. What is absent is the default. */
export interface RolloutWishes {
  /** The traffic in each step, in percent. */
  readonly canary?: readonly number[]
  readonly bakeMs?: number
  /** Asked for by HTTP, of the first port that is published. */
  readonly checkPath?: string
}

/** What a service waits for before it is started. */
export const Condition = {
  Started: 'service_started',
  Healthy: 'service_healthy',
  Completed: 'service_completed_successfully',
} as const
export type Condition = (typeof Condition)[keyof typeof Condition]

export interface Dependency extends Place {
  readonly service: string
  readonly condition: Condition
  readonly isRequired: boolean
}

export interface HealthCheck {
  readonly argv: readonly string[]
  readonly intervalMs: number
  readonly timeoutMs: number
  readonly retries: number
  readonly startPeriodMs: number
  readonly startIntervalMs: number
}

export interface ProjectVolume extends Place {
  /** The name on the platform. */
  readonly name: string
  readonly sizeMb: number
  /** It is not of the project: it has to be there, and is never deleted. */
  readonly isExternal: boolean
}

/** The tag that marks the instances of a project. */
export function projectTag(project: string): string {
  return `compose:${project}`
}

/**
 * The name of a service's object on the platform. The host's nameserver looks for a name without a dot
 * among the names that end as the asker's own name does, so `web.shop` finds `db.shop` as `db`.
 */
export function objectName(key: string, project: string): string {
  return `${key}.${project}`
}

/** The name of one of a service's instances. The nameserver finds all of them by the service's name. */
export function instanceName(key: string, project: string, number: number): string {
  const name = objectName(key, project)
  return number === 1 ? name : `${key}-${String(number)}.${name}`
}
