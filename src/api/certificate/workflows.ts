import { markCertificateWorkflowStarted } from '../../db/certificate/records.ts'
import { unstartedCertificates } from '../../db/certificate/certificates.ts'
import type { AttachedService } from '../../db/service/row.ts'
import { boundedMap } from '../bounded-map.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { wasTold } from '../told-workflow.ts'

/** How many workflow starts one request may have under way. */
const maxConcurrentStarts = 10

type Deps = Pick<ApiDeps, 'database' | 'certificateControl'>

/**
 * Starts the workflows that order the certificates which were requested with these services. If Temporal does
 * not answer, the certificates are pending all the same, and the sweep starts the rest.
 */
export async function startCertificateWorkflows(
  { database, certificateControl }: Deps,
  call: Call,
  services: Iterable<Pick<AttachedService, 'domains'>>,
): Promise<void> {
  const uuids = [...services].flatMap(({ domains }) =>
    domains.flatMap(({ certificate }) => certificate?.uuid ?? []),
  )
  const unstarted = await unstartedCertificates(database, [...new Set(uuids)])
  const started = await boundedMap(unstarted, maxConcurrentStarts, async (settings) => {
    const { certificateUuid } = settings
    const told = await wasTold(certificateControl.ensureStarted(settings), call, notTold(certificateUuid))
    return told ? [certificateUuid] : []
  })
  if (started.length > 0) await markCertificateWorkflowStarted(database, started.flat())
}

/**
 * Tells the workflow of a certificate that the row is deleted. If this message is lost, the workflow
 * notices by itself that there is no row.
 */
export async function tellCertificateDeleted(
  { certificateControl }: Pick<Deps, 'certificateControl'>,
  call: Call,
  uuid: string,
): Promise<void> {
  await wasTold(certificateControl.delete(uuid), call, notTold(uuid))
}

function notTold(uuid: string) {
  return { object: { certificate: uuid }, instead: 'the workflow of the certificate hears of it later' }
}
