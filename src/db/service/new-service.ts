import type { DomainName } from '../../domain/service/domain-name.ts'
import type { PublishedPort } from '../../domain/service/handler.ts'
import type { Identifier } from '../identifiers.ts'
import type { RandomSuffix } from '../random-suffix.ts'

/** A service as it is asked for: ports and limits resolved, names parsed. */
export interface NewService {
  /** Absent: generated. */
  readonly name?: string
  readonly ports: readonly PublishedPort[]
  readonly domains: readonly WantedDomain[]
  readonly softLimit: number
  readonly hardLimit: number
  /** Where a name without a domain gets one. */
  readonly metroDomain: string
}

export interface WantedDomain extends DomainName {
  /** Of a custom domain: the one to use. Absent: one that fits, or a new one. */
  readonly certificate?: Identifier
}

export interface ServiceWriter {
  readonly userUuid: string
  readonly randomSuffix: RandomSuffix
}
