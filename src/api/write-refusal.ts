import { problem, rangeProblem, requestError } from '../contract/errors.ts'
import type { Problem } from '../contract/errors.ts'
import { updateInstances } from '../contract/instance/operations.ts'
import type { WriteRefusal } from '../db/refused.ts'
import { updateServices } from '../contract/service/operations.ts'
import { InstanceState } from '../domain/instance/state.ts'
import { VolumeState } from '../domain/volume/state.ts'
import { policyKind } from './autoscale/policy-kind.ts'
import { quotaNames } from './account/quota-names.ts'
import { timestamp } from './timestamp.ts'
import { serviceKind } from './service/objects.ts'
import { volumeKind } from './volume/objects.ts'

/** The sentence for the user that says why something was not made or changed. */
export function writeRefusalProblem(refusal: WriteRefusal): Problem {
  const read = problemOf[refusal.kind] as (refusal: WriteRefusal) => Problem
  return read(refusal)
}

type Refusal<Kind extends WriteRefusal['kind']> = Extract<WriteRefusal, { readonly kind: Kind }>

/** The table is total: a refusal without a sentence does not compile. */
const problemOf: { readonly [Kind in WriteRefusal['kind']]: (refusal: Refusal<Kind>) => Problem } = {
  limit: ({ breach: { parameter, min, max } }) => rangeProblem({ name: parameter, min, max }),
  quota: ({ excess: { quota, value, bound } }) =>
    problem('quotaExceeded', { quota: quotaNames[quota], wanted: value, limit: bound }),
  'deleted-excess': ({ excess: { quota, value, bound } }) =>
    problem('deletedNotGone', { quota: quotaNames[quota], wanted: value, limit: bound }),
  'too-many-tokens': ({ limit }) => problem('tooManyTokens', { limit }),
  'no-user': () => {
    throw requestError('unauthenticated')
  },

  'name-taken': ({ name }) => problem('alreadyExists', { kind: 'Instance', value: name }),
  'no-node': ({ heardAt }) =>
    heardAt === undefined ? problem('noHost') : problem('noHostAnswers', { since: timestamp(heardAt) }),
  'all-cordoned': () => problem('allHostsCordoned'),
  'no-address': () => problem('noAddress'),
  'instance-not-found': ({ by, value }) => problem('notFound', { kind: 'instance', by, value }),
  'instance-not-stopped': ({ name, state }) =>
    problem('instanceNotStopped', { instance: name, is: activity(state) }),
  'instance-has-volume': ({ name, volume }) =>
    problem('instanceHasVolume', { instance: name, volume: volume.name }),

  'change-of-clone': ({ name }) => problem('changeOfClone', { name }),
  'no-more-memory': ({ name, moreMb, roomMb }) =>
    problem('noMoreMemory', { name, more: moreMb, free: roomMb }),
  'process-too-long': ({ what, bytes, limit }) =>
    problem('tooManyBytes', { what, bytes, limit, place: updateInstances.place }),
  'too-many-members': ({ what, count, limit }) =>
    problem('tooManyElements', { name: what, in: '', count, limit }),

  'service-name-taken': ({ name }) => problem('alreadyExists', { kind: 'Service group', value: name }),
  'service-not-found': ({ by, value }) => problem('notFound', { kind: serviceKind, by, value }),
  'domain-taken': ({ fqdn }) => problem('domainInUse', { fqdn }),
  'port-not-published': ({ name, port, ports }) =>
    problem('portNotPublished', { name, port, ports: ports.join(', ') || 'none' }),
  'domain-not-held': ({ name, fqdn, domains }) =>
    problem('domainNotHeld', { name, fqdn, domains: domains.join(', ') || 'none' }),
  'soft-above-hard': ({ soft, hard }) =>
    problem('softAboveHard', { soft, hard, place: updateServices.place }),
  'too-many-parts': ({ of, count, limit }) => problem('tooManyElements', { name: of, in: '', count, limit }),
  'certificate-not-found': ({ by, value }) => problem('notFound', { kind: 'certificate', by, value }),
  'certificate-mismatch': ({ commonName, fqdn }) => problem('certificateMismatch', { commonName, fqdn }),
  'wildcard-without-certificate': ({ fqdn }) => problem('wildcardWithoutCertificate', { fqdn }),
  'too-many-certificates': ({ limit }) => problem('tooManyCertificates', { limit }),

  'certificate-name-taken': ({ name }) => problem('alreadyExists', { kind: 'Certificate', value: name }),
  'certificate-expired': ({ name, at }) => problem('certificateExpired', { name, at: timestamp(at) }),
  'certificate-attached': ({ name, service, fqdn }) =>
    problem('certificateAttached', { name, service, fqdn }),

  'volume-name-taken': ({ name }) => problem('alreadyExists', { kind: 'Volume', value: name }),
  'volume-not-found': ({ by, value }) => problem('notFound', { kind: volumeKind, by, value }),
  'volume-not-available': unavailableProblem,
  'volume-with-replicas': ({ name, replicas }) => problem('volumeForOne', { name, count: replicas + 1 }),
  'volume-host-silent': ({ name, nodeId }) => problem('volumeHostSilent', { name, host: nodeId }),
  'volume-host-cordoned': ({ name, nodeId }) => problem('volumeHostCordoned', { name, host: nodeId }),
  'no-volume-room': ({ count, sizeMb, roomiestMb }) => {
    const wanted = count === 1 ? `a volume of ${sizeMb} MiB` : `${count} volumes of ${sizeMb} MiB each`
    return problem('noVolumeRoom', { wanted, free: Math.max(0, roomiestMb) })
  },
  'no-memory-room': ({ count, neededMb, roomiestMb }) => {
    const wanted =
      count === 1 ? `an instance of ${neededMb} MiB` : `${count} instances of ${neededMb} MiB each`
    return problem('noMemoryRoom', { wanted, free: roomiestMb })
  },
  'volume-elsewhere': ({ volume, instance }) => {
    const hosts = { volumeHost: volume.nodeId, instanceHost: instance.nodeId }
    return problem('volumeElsewhere', { name: volume.name, instance: instance.name, ...hosts })
  },
  'volume-mounted': ({ name, instance }) =>
    problem('volumeMounted', { name, instance: instance.name, is: activity(instance.state) }),
  'volume-attached': ({ name, instance }) => problem('volumeAttached', { name, instance: instance.name }),
  'volume-not-attached': ({ name, instance }) =>
    problem('volumeNotAttached', { name, instance: instance.name }),
  'volume-for-clone': ({ name }) => problem('volumeForClone', { name }),
  'volume-for-master': ({ name, service }) => problem('volumeForMaster', { name, service }),

  'schedule-name-taken': ({ name }) => problem('alreadyExists', { kind: 'Schedule', value: name }),
  'too-many-schedules': ({ limit }) => problem('tooManySchedules', { limit }),

  'rollout-under-way': ({ name, phase }) => problem('rolloutUnderWay', { name, phase }),
  'rollout-can-not-end': ({ name, phase, reason }) => problem('rolloutCanNotEnd', { name, phase, reason }),
  'nothing-to-roll-out': ({ name }) => problem('nothingToRollOut', { name }),
  'nothing-to-check': ({ name }) => problem('nothingToCheck', { name }),
  'volume-in-steps': ({ name, instance }) => problem('volumeInSteps', { name, instance }),
  'nothing-to-go-back-to': ({ name }) => problem('nothingToGoBackTo', { name }),
  'image-changed': ({ name }) =>
    problem('operationFailed', { reason: `an instance of ${name} was changed at this moment; try again` }),
  'rollout-goes-back': ({ name, reason }) => problem('rolloutGoesBack', { name, reason }),

  'autoscale-disabled': () => problem('autoscaleDisabled'),
  'autoscale-size': ({ breach: { parameter, ...breach } }) =>
    problem('autoscaleSize', { name: parameter, ...breach }),
  'autoscale-sizes-crossed': ({ min, max }) => problem('sizesCrossed', { min, max }),
  'autoscale-configured': ({ service, master }) => problem('autoscaleConfigured', { service, master }),
  'autoscale-not-configured': ({ service }) => problem('autoscaleNotConfigured', { service }),
  'master-is-clone': ({ name }) => problem('masterIsClone', { name }),
  'master-not-attached': ({ name, service }) => problem('masterNotAttached', { name, service }),
  'master-has-volume': ({ name, volume }) => problem('masterHasVolume', { name, volume }),
  'policy-taken': ({ name }) => problem('policyTaken', { name }),
  'policy-not-found': ({ name }) => problem('notFound', { kind: policyKind, by: 'name', value: name }),
  'too-many-policies': ({ limit }) => problem('tooManyPolicies', { limit }),
}

function unavailableProblem(refusal: Refusal<'volume-not-available'>): Problem {
  const { name, state, attachedTo, failure } = refusal
  if (state === VolumeState.Error) return problem('volumeInError', { name, reason: failure ?? 'unknown' })
  if (attachedTo !== null) return problem('volumeAttached', { name, instance: attachedTo.name })
  return problem('volumeNotReady', { name, state })
}

/**
 * Describes a state, to complete "which ..." or "the instance ...". If an instance is refused although it
 * is stopped, it waits for its start.
 */
function activity(state: InstanceState): string {
  return state === InstanceState.Stopped ? 'is about to start' : `is in state '${state}'`
}
