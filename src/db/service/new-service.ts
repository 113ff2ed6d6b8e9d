import type { Asker } from '../../domain/event/asker.ts'
import type { DomainName } from '../../domain/service/domain-name.ts'
import type { PublishedPort } from '../../domain/service/handler.ts'
import type { Identifier } from '../identifiers.ts'
import type { RandomSuffix } from '../random-suffix.ts'

/** A request for a service, with ports and limits resolved and names parsed. */
export interface NewService {
  /** The service's name. Absent: generated. */
  readonly name?: string
  readonly ports: readonly PublishedPort[]
  readonly domains: readonly WantedDomain[]
  readonly softLimit: number
  readonly hardLimit: number
  /** The domain below which a service without a domain gets a name. */
  readonly metroDomain: string
}

export interface WantedDomain extends DomainName {
  /** Only for a custom domain: the certificate to use. Absent: one that fits, or a new one. */
  readonly certificate?: Identifier
}

export interface ServiceWriter {
  readonly userUuid: string
  readonly randomSuffix: RandomSuffix
  readonly asker?: Asker
}
