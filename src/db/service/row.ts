import type { ExpressionBuilder } from 'kysely'
import { jsonArrayFrom, jsonBuildObject } from 'kysely/helpers/postgres'
import type { CertificateState } from '../../domain/service/handler.ts'
import { columnsOf } from '../schema/columns.ts'
import type { Db, Row, Tables } from '../schema/tables.ts'

/** One service as readers get it. */
export interface ServiceRow extends Readonly<Omit<Row<'services'>, 'feedXid'>> {
  /** Whether the service has an autoscale configuration that is not deleted. */
  readonly autoscale: boolean
  /** The domains in the order of the request. */
  readonly domains: readonly ServiceDomain[]
  /** The attached instances that are not deleted, in the order of their creation. */
  readonly instances: readonly { readonly uuid: string; readonly name: string }[]
}

export interface ServiceDomain {
  /** The domain's name without a final dot. */
  readonly fqdn: string
  /** Null for names of the metro domain. */
  readonly certificate: {
    readonly uuid: string
    readonly name: string
    readonly state: CertificateState
  } | null
}

/** The part of a service that an attached instance shows. */
export type AttachedService = Pick<ServiceRow, 'uuid' | 'name' | 'domains'>

/** Services with their domains; the rows are `AttachedService`. */
export function selectAttachedServices(db: Db) {
  return db.selectFrom('services').select((eb) => ['uuid', 'name', domains(eb).as('domains')])
}

/** Services with everything that readers get; the rows are `ServiceRow`. */
export function selectServices(db: Db) {
  return db
    .selectFrom('services')
    .select(columnsOf('services', ['feedXid']))
    .select((eb) => [
      isAutoscaled(eb).as('autoscale'),
      domains(eb).as('domains'),
      instances(eb).as('instances'),
    ])
}

type OfService = ExpressionBuilder<Tables, 'services'>

function domains(eb: OfService) {
  return jsonArrayFrom(
    eb
      .selectFrom('domains')
      .leftJoin('certificates', 'certificates.uuid', 'domains.certificateUuid')
      .whereRef('domains.serviceUuid', '=', 'services.uuid')
      .select((of) => [
        'domains.fqdn',
        of
          .case()
          .when('certificates.uuid', 'is not', null)
          .then(
            jsonBuildObject({
              uuid: of.ref('certificates.uuid').$notNull(),
              name: of.ref('certificates.name').$notNull(),
              state: of.ref('certificates.state').$notNull(),
            }),
          )
          .end()
          .as('certificate'),
      ])
      .orderBy('domains.ordinal'),
  )
}

function instances(eb: OfService) {
  return jsonArrayFrom(
    eb
      .selectFrom('instances')
      .whereRef('instances.serviceUuid', '=', 'services.uuid')
      .where('instances.deletedAt', 'is', null)
      .select(['instances.uuid', 'instances.name'])
      .orderBy('instances.position'),
  )
}

function isAutoscaled(eb: OfService) {
  const configuration = eb
    .selectFrom('autoscaleConfigurations')
    .whereRef('autoscaleConfigurations.serviceUuid', '=', 'services.uuid')
    .where('autoscaleConfigurations.deletedAt', 'is', null)
    .select('autoscaleConfigurations.serviceUuid')
  return eb.exists(configuration).$castTo<boolean>()
}
