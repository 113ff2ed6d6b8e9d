import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { columnsOf } from '../schema/columns.ts'
import type { Db, Row } from '../schema/tables.ts'

/** Columns that readers do not get: the chain and its key, and columns that only the platform needs. */
const inner = [
  'workflowStartedAt',
  'chain',
  'keySealed',
  'feedXid',
] as const satisfies readonly (keyof Row<'certificates'>)[]

/** One certificate as readers get it. The entity says what its columns mean. */
export interface CertificateRow extends Readonly<Omit<Row<'certificates'>, (typeof inner)[number]>> {
  /** The services whose domains use the certificate, in the order of their creation. */
  readonly services: readonly { readonly uuid: string; readonly name: string }[]
}

/** Selects certificates as readers get them; the rows are `CertificateRow`. */
export function selectCertificates(db: Db) {
  return db
    .selectFrom('certificates')
    .select(columnsOf('certificates', inner))
    .select((eb) => {
      const served = eb
        .selectFrom('domains')
        .select('domains.serviceUuid')
        .whereRef('domains.certificateUuid', '=', 'certificates.uuid')
      const services = eb
        .selectFrom('services')
        .select(['services.uuid', 'services.name'])
        .where('services.uuid', 'in', served)
        .orderBy('services.position')
      return jsonArrayFrom(services).as('services')
    })
}
