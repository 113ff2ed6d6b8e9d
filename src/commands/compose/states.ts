import type { Place } from './findings.ts'
import type {
  Autoscale,
  Dependency,
  HealthCheck,
  Mount,
  ProjectVolume,
  PublicPort,
  Restart,
  RolloutWishes,
} from './project.ts'

/** What an instance is configured as: what a file asks for, or what the platform has. */
export interface Configuration {
  /** With its digest. */
  readonly image: string
  /** Absent: the image's own. */
  readonly args?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly memoryMb: number
  readonly vcpus: number
  readonly restart: Restart
  readonly sleep: {
    readonly policy: 'off' | 'on' | 'idle'
    readonly stateful: boolean
    readonly cooldownMs: number
  }
  readonly tags: readonly string[]
}

/** What a project has to be, with all defaults. */
export interface Desired {
  readonly project: string
  /** Each comes after those on which it depends. */
  readonly services: readonly DesiredService[]
  readonly volumes: readonly ProjectVolume[]
}

export interface DesiredService extends Place {
  readonly key: string
  readonly configuration: Configuration
  readonly replicas: number
  readonly mount?: Mount
  readonly ports: readonly PublicPort[]
  /** Full names without a final dot. Absent: what the platform makes. */
  readonly domains?: readonly string[]
  readonly autoscale?: Autoscale
  readonly rollout: RolloutWishes
  readonly dependsOn: readonly Dependency[]
  readonly health?: HealthCheck
}

/** What the platform has of a project. */
export interface Actual {
  /** Without the clones that autoscale made, and without those that are only of a rollout. */
  readonly instances: readonly ActualInstance[]
  readonly inRollouts: readonly InstanceInRollout[]
  readonly services: readonly ActualService[]
  readonly volumes: readonly ActualVolume[]
  /** Instances that have a name that the project wants, and not its tag. */
  readonly foreign: readonly string[]
}

export interface ActualInstance {
  readonly name: string
  readonly state: string
  readonly exitCode?: number
  readonly configuration: Configuration
  readonly mount?: Pick<Mount, 'volume' | 'at' | 'readonly'>
  /** The service to which it is attached. */
  readonly service?: string
}

/** An instance that a rollout brings in, or keeps as the way back. A file asks for none of these. */
export interface InstanceInRollout {
  readonly name: string
  /** It is brought in, so the rollout is under way. */
  readonly isNew: boolean
  /** The service that has the rollout. Absent: it does not exist any more, and nothing ends the keeping. */
  readonly service?: string
}

export interface ActualService {
  readonly name: string
  readonly ports: readonly PublicPort[]
  readonly domains: readonly string[]
  /** `other` if it is not of the form that a project makes. */
  readonly autoscale?: Autoscale | 'other'
  readonly instances: readonly string[]
}

export interface ActualVolume {
  readonly name: string
  readonly sizeMb: number
}
