import type { CertificateState, PublishedPort } from '../../domain/service/handler.ts'

/** One service as readers get it. */
export interface ServiceRow {
  readonly uuid: string
  readonly position: number
  readonly userUuid: string
  readonly name: string
  readonly createdAt: Date
  readonly persistent: boolean
  /** It has a configuration that is not deleted. */
  readonly autoscale: boolean
  readonly softLimit: number
  readonly hardLimit: number
  readonly ports: readonly PublishedPort[]
  /** In the order in which they were given. */
  readonly domains: readonly ServiceDomain[]
  /** Those that are not deleted, in the order of their creation. */
  readonly instances: readonly { readonly uuid: string; readonly name: string }[]
}

export interface ServiceDomain {
  /** Without a final dot. */
  readonly fqdn: string
  /** Null for names of the metro domain. */
  readonly certificate: {
    readonly uuid: string
    readonly name: string
    readonly state: CertificateState
  } | null
}

/** What an instance shows of the service that it is attached to. */
export type AttachedService = Pick<ServiceRow, 'uuid' | 'name' | 'domains'>

const domains = `
  coalesce((select json_agg(json_build_object('fqdn', d.fqdn, 'certificate', case when c.uuid is not null then
      json_build_object('uuid', c.uuid, 'name', c.name, 'state', c.state) end) order by d.ordinal)
    from domains d left join certificates c on c.uuid = d.certificate_uuid
    where d.service_uuid = services.uuid), '[]'::json)`

const instances = `
  coalesce((select json_agg(json_build_object('uuid', i.uuid, 'name', i.name) order by i.position)
    from instances i where i.service_uuid = services.uuid and i.deleted_at is null), '[]'::json)`

const autoscale = `
  exists (select 1 from autoscale_configurations a where a.service_uuid = services.uuid and a.deleted_at is null)`

export const attachedServiceColumns = `uuid, name, ${domains} as "domains"`

/** The select list over `services` whose rows are `ServiceRow`. */
export const serviceColumns = `
  uuid, position, user_uuid as "userUuid", name, created_at as "createdAt", persistent,
  ${autoscale} as "autoscale",
  soft_limit as "softLimit", hard_limit as "hardLimit", ports,
  ${domains} as "domains", ${instances} as "instances"`
