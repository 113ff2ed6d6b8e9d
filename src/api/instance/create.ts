import { RequestError, problem, rangeProblem, requestError } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import { createInstances } from '../../contract/instance/operations.ts'
import type { FailedEntry } from '../../contract/envelope.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { insertInstances } from '../../db/instance/create.ts'
import { RememberedHosts } from '../../db/instance/remembered-hosts.ts'
import type { ServiceChoice } from '../../db/instance/new-instances.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { readLimits } from '../../db/account/quotas.ts'
import type { AttachedService } from '../../db/service/row.ts'
import { attachedServices } from '../../db/service/services.ts'
import { findVolumes } from '../../db/volume/volumes.ts'
import { parseImageReference } from '../../domain/image/reference.ts'
import { findLimitBreach } from '../../domain/account/quotas.ts'
import { defaultMemoryMb, defaultVcpus } from '../../domain/instance/defaults.ts'
import { beginSpan, span } from '../../primitives/spans.ts'
import { boundedMap } from '../bounded-map.ts'
import type { Call, Handler } from '../call.ts'
import { startCertificateWorkflows } from '../certificate/workflows.ts'
import type { ApiDeps } from '../deps.ts'
import { unmadeEntry } from '../failed-entry.ts'
import { findImage } from './find-image.ts'
import { createFirstBoots, headStart } from './first-boots.ts'
import { outOfReach, refuseBeyondServices } from './limited-create.ts'
import { waitMs } from './waiting.ts'
import { newInstances, oversizedProcess } from './new-instance.ts'
import type { InstanceBody } from './new-instance.ts'
import { notTheirs, serviceChoice, serviceChoiceProblems } from '../service/new-service.ts'
import { privateFqdn } from './view.ts'
import { presentAttached } from '../service/view.ts'
import { volumeChoiceProblems } from '../volume/choice.ts'
import { startVolumeWorkflows } from '../volume/workflows.ts'
import { writeRefusalProblem } from '../write-refusal.ts'
import { waitForStart } from './start-waiting.ts'
import { startInstanceWorkflows } from './workflows.ts'

type Entry = OperationEntry<typeof createInstances> | FailedEntry

/** How many requests to the registry one request may have under way. */
const maxConcurrent = 10

/**
 * Creates the instances of each object in turn, so that the first objects get what is left of the quotas.
 * Either all instances of one object are created or none.
 */
export function instancesCreate(deps: ApiDeps): Handler<typeof createInstances> {
  const remembered = new RememberedHosts()
  const beginFirstBoot = createFirstBoots(deps)
  return async ({ objects }, call) => {
    const bodies = objects.map(({ parameters }) => parameters)
    const ended = beginSpan('api: create, until the row is there')
    const { metroDomain } = deps.settings
    refuseBeyondServices(call.identity, bodies)
    // The registry is asked beside the database. It is the slowest to answer.
    const [images] = await Promise.all([
      boundedMap(bodies, maxConcurrent, async ({ image }) => await findImage(deps, call, image)),
      refuseInvalid(deps, call, bodies),
    ])
    const created: (readonly (InstanceRow | FailedEntry)[])[] = []
    const boots: Promise<void>[] = []
    const services = bodies.map((body) => serviceChoice(body.service_group, metroDomain))
    const made = services.map((service) =>
      service !== undefined && 'made' in service ? service.made : undefined,
    )
    const hidden = await outOfReach(deps, call.identity, services)
    const taken = await notTheirs(deps, call.identity.userUuid, made)
    for (const [index, body] of bodies.entries()) {
      const wrong = hidden[index] ?? taken[index]
      const service = services[index]
      const image = images[index]!
      const instances =
        wrong === undefined
          ? await createObject(deps, call, { body, image, service, remembered })
          : [unmadeEntry(wrong, body.name)]
      for (const row of instances.filter(isRow)) {
        ended(row.uuid)
        boots.push(beginFirstBoot(call, row))
      }
      created.push(instances)
    }
    const rows = created.flat().filter(isRow)
    await startMadeVolumes(deps, call, rows)
    if (bodies.some((body) => waitMs(body.wait_timeout_ms ?? 0) > 0)) await headStart(boots)
    const [attached] = await Promise.all([
      attachedServices(deps.database, rows),
      startInstanceWorkflows(deps, call, rows),
    ])
    await startCertificateWorkflows(deps, call, attached.values())
    const entries = created.flatMap((instances, index) =>
      instances.map(async (one): Promise<Entry> => {
        if (!isRow(one)) return one
        const service = attached.get(one.serviceUuid ?? '')
        return createdEntry(deps, call, { row: one, body: bodies[index]!, service })
      }),
    )
    return { entries: await Promise.all(entries) }
  }
}

function isRow(one: InstanceRow | FailedEntry): one is InstanceRow {
  return !('message' in one)
}

/**
 * Refuses the request before anything is made if an object is invalid. Only problems that do not depend on
 * the state of the platform are found here.
 */
async function refuseInvalid(deps: ApiDeps, call: Call, bodies: readonly InstanceBody[]): Promise<void> {
  const { place } = createInstances
  const limits = await readLimits(deps.database, call.identity.userUuid)
  if (limits === undefined) throw requestError('unauthenticated')
  const problems = bodies.flatMap((body): readonly Problem[] => {
    const found: Problem[] = []
    if (parseImageReference(body.image) === undefined) {
      found.push(
        problem('invalidImage', {
          value: body.image,
          reason: 'expected <app>:<tag> or <user>/<app>:<tag>, or a digest after @',
        }),
      )
    }
    if ((body.wait_timeout_ms ?? 0) !== 0 && body.autostart !== true) {
      found.push(problem('onlyWith', { name: 'wait_timeout_ms', other: "'autostart'", place }))
    }
    found.push(...serviceChoiceProblems(body.service_group, deps.settings.metroDomain))
    found.push(...volumeChoiceProblems(body, limits))
    const oversized = oversizedProcess(body)
    if (oversized !== undefined) found.push(oversized)
    const breach = findLimitBreach(limits, {
      memoryMb: body.memory_mb ?? Math.max(defaultMemoryMb, limits.minMemoryMb),
      vcpus: body.vcpus ?? Math.max(defaultVcpus, limits.minVcpus),
    })
    if (breach !== undefined && body[breach.parameter] !== undefined) {
      found.push(rangeProblem({ name: breach.parameter, min: breach.min, max: breach.max }))
    }
    return found
  })
  if (problems.length > 0) throw new RequestError(problems)
}

async function createObject(
  { database, secretBox }: ApiDeps,
  call: Call,
  {
    body,
    image,
    service,
    remembered,
  }: {
    readonly body: InstanceBody
    readonly image: Awaited<ReturnType<typeof findImage>>
    readonly service: ServiceChoice | undefined
    readonly remembered: RememberedHosts
  },
): Promise<readonly (InstanceRow | FailedEntry)[]> {
  if ('message' in image) return [unmadeEntry(image, body.name)]
  const wanted = newInstances(call.identity.userUuid, { body, image, service })
  const outcome = await insertInstances({ database, secretBox, remembered }, { ...wanted, asker: call.asker })
  return outcome.ok ? outcome.instances : [unmadeEntry(writeRefusalProblem(outcome.refusal), body.name)]
}

/**
 * Starts the workflows of volumes that were made with the instances. Volumes that existed before already
 * have workflows.
 */
async function startMadeVolumes(deps: ApiDeps, call: Call, rows: readonly InstanceRow[]): Promise<void> {
  const uuids = rows.flatMap(({ volumeUuid }) => (volumeUuid === null ? [] : [{ uuid: volumeUuid }]))
  if (uuids.length === 0) return
  const volumes = await findVolumes(deps.database, call.identity.userUuid, uuids)
  const made = volumes.flatMap((volume) => (volume === undefined || volume.persistent ? [] : volume))
  await startVolumeWorkflows(deps, call, made)
}

async function createdEntry(
  deps: ApiDeps,
  call: Call,
  {
    row,
    body,
    service,
  }: {
    readonly row: InstanceRow
    readonly body: InstanceBody
    readonly service: AttachedService | undefined
  },
): Promise<Entry> {
  const timeoutMs = waitMs(body.wait_timeout_ms ?? 0)
  const created = {
    status: 'success' as const,
    state: row.state,
    uuid: row.uuid,
    name: row.name,
    private_fqdn: privateFqdn(row),
    private_ip: row.privateIp,
    ...(service === undefined ? {} : { service_group: presentAttached(service) }),
  }
  if (timeoutMs === 0) return created
  const wanted = { row, revision: row.revision, timeoutMs }
  const ended = await span(row.uuid, 'api: wait', () => waitForStart(deps, call, wanted))
  if (ended.status === 'error') return ended
  const { bootTimeUs } = ended.row
  return { ...created, state: ended.state, ...(bootTimeUs === null ? {} : { boot_time_us: bootTimeUs }) }
}
