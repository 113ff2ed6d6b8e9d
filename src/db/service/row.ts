import type { ExpressionBuilder } from 'kysely'
import { jsonArrayFrom, jsonBuildObject } from 'kysely/helpers/postgres'
import type { CertificateState } from '../../domain/service/handler.ts'
import { columnsOf } from '../schema/columns.ts'
import type { Db, Row, Tables } from '../schema/tables.ts'

/** One service as readers get it. */
export interface ServiceRow extends Readonly<Omit<Row<'services'>, 'feedXid'>> {
  /** It has a configuration that is not deleted. */
  readonly autoscale: boolean
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

/** Services with their domains; the rows are `AttachedService`. */
export function selectAttachedServices(db: Db) {
  return db.selectFrom('services').select((eb) => ['uuid', 'name', domains(eb).as('domains')])
}

/** Services with all that readers get; the rows are `ServiceRow`. */
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
