import { CertificateState, Handler } from './handler.ts'
import type { PublishedPort } from './handler.ts'
import type { Explanation } from '../instance/explanation.ts'
import { InstanceState } from '../instance/state.ts'
import { countStates, tallyOf, verbOf } from '../instance/tally.ts'
import { timeOf } from '../instance/words.ts'
import type { RolloutFacts } from '../rollout/decision.ts'
import { explainRollout } from '../rollout/words.ts'
import type { RolloutExplanation } from '../rollout/words.ts'

/** What a request to a service meets. */
export const ServiceReach = {
  /** An awake instance answers it. */
  Answered: 'answered',
  /** It waits for an instance that starts. */
  Waits: 'waits',
  /** It wakes a sleeping instance, and waits for it. */
  Wakes: 'wakes',
  /** All instances that could answer are on hosts that are silent. */
  Unknown: 'unknown',
  /** Nothing is there that could answer it. */
  Refused: 'refused',
} as const
export type ServiceReach = (typeof ServiceReach)[keyof typeof ServiceReach]

/** What is recorded about a service. Times are milliseconds since the epoch. */
export interface ExplainedService {
  readonly name: string
  readonly softLimit: number
  readonly ports: readonly PublishedPort[]
  readonly domains: readonly ExplainedDomain[]
  readonly instances: readonly ServingInstance[]
  /** The rollout that is under way or keeps the old version. */
  readonly rollout?: RolloutFacts
}

export interface ExplainedDomain {
  readonly fqdn: string
  /** Absent: the domain is served with the metro domain's certificate. */
  readonly certificate?: { readonly name: string; readonly state: CertificateState }
}

/** An attached instance as its row and its host's row have it. */
export interface ServingInstance {
  readonly name: string
  readonly nodeId: string
  readonly state: InstanceState
  readonly mayStandBy: boolean
  /** Whether a rollout that is under way brings it in. */
  readonly isNew?: boolean
  /** Why the last start or wake failed, if none has succeeded since. */
  readonly failure?: string
  readonly restartAtMs?: number
  /** When its host was last heard, if that is so long ago that the host counts as silent. */
  readonly hostSilentSinceMs?: number
}

export interface ServiceExplanation extends Explanation {
  readonly reach: ServiceReach
  /** One phrase for each port, domain and instance, in the order of the service. */
  readonly ports: readonly { readonly port: number; readonly does: string }[]
  readonly domains: readonly { readonly fqdn: string; readonly does: string }[]
  readonly instances: readonly { readonly name: string; readonly does: string }[]
  readonly rollout?: RolloutExplanation
}

/** Says what serves a service, what a request to it meets and why, and what comes next. */
export function explainService(service: ExplainedService): ServiceExplanation {
  const { name, ports, domains, instances, rollout } = service
  const reach = reachOf(service)
  const { now, next } = byReach[reach](service)
  const failures = [...instances.flatMap(failureOf), ...domains.flatMap(certificateFailure)]
  return {
    reach,
    now: `${name} ${now}.`,
    next,
    ...(failures.length === 0 ? {} : { failure: listed(failures) }),
    ports: ports.map((each) => ({ port: each.port, does: portWork(each) })),
    domains: domains.map((each) => ({ fqdn: each.fqdn, does: domainWork(each) })),
    instances: instances.map((each) => ({ name: each.name, does: instanceWork(each) })),
    ...(rollout && { rollout: explainRollout(rollout, name) }),
  }
}

/** The states in which a gateway may send a request to an instance. In all others traffic passes it by. */
const servingStates: readonly InstanceState[] = [
  InstanceState.Running,
  InstanceState.Starting,
  InstanceState.Standby,
]

/** Gateways ask running instances first, then those that start, then those that sleep. */
function reachOf({ ports, domains, instances, rollout }: ExplainedService): ServiceReach {
  if (ports.length === 0 || domains.length === 0) return ServiceReach.Refused
  if (rollout?.isHeld === true) return ServiceReach.Waits
  const serving = instances.filter(({ state }) => servingStates.includes(state))
  const heard = serving.filter(({ hostSilentSinceMs }) => hostSilentSinceMs === undefined)
  const isThere = (state: InstanceState) => heard.some((instance) => instance.state === state)
  if (isThere(InstanceState.Running)) return ServiceReach.Answered
  if (isThere(InstanceState.Starting)) return ServiceReach.Waits
  if (isThere(InstanceState.Standby)) return ServiceReach.Wakes
  return serving.length > 0 ? ServiceReach.Unknown : ServiceReach.Refused
}

type Words = Pick<Explanation, 'now' | 'next'>

const byReach = {
  [ServiceReach.Answered]: (service) => ({
    now: `answers requests: ${tally(service)}`,
    next: afterAnswers(service),
  }),
  [ServiceReach.Waits]: (service) => ({
    now: `lets requests wait: ${tally(service)}`,
    next: 'they are let through as soon as an instance is up, and are refused with 503 if that takes too long',
  }),
  [ServiceReach.Wakes]: (service) => ({
    now: `is asleep, and the next request wakes it: ${tally(service)}`,
    next: 'that request waits until an instance is awake, and is answered then',
  }),
  [ServiceReach.Unknown]: (service) => ({
    now: `may answer requests or not, because every host that could tell is silent: ${tally(service)}`,
    next: 'when a host is heard again, it says what became of its instances',
  }),
  [ServiceReach.Refused]: whyRefused,
} satisfies Record<ServiceReach, (service: ExplainedService) => Words>

function tally({ instances }: ExplainedService): string {
  return tallyOf(countStates(instances.map(({ state }) => state)))
}

function afterAnswers({ softLimit, instances }: ExplainedService): string {
  const running = instances.filter(({ state }) => state === InstanceState.Running)
  if (instances.some(({ state }) => state === InstanceState.Standby)) {
    return `a sleeping instance is woken when every awake one has ${softLimit} or more in flight`
  }
  return running.every(({ mayStandBy }) => mayStandBy)
    ? 'its instances go to standby when nothing asks for them, and the next request wakes one'
    : 'it goes on like this until an instance is stopped or started'
}

function whyRefused(service: ExplainedService): Words {
  const { ports, domains, instances } = service
  if (ports.length === 0 || domains.length === 0) {
    return ports.length === 0
      ? {
          now: 'publishes no port, so nothing reaches it',
          next: 'nothing, until a port is published for it',
        }
      : { now: 'has no name, so nothing reaches it', next: 'nothing, until it gets a name' }
  }
  if (instances.length === 0) {
    return {
      now: 'has no instance, so requests are refused with 404',
      next: 'nothing, until an instance is created with it',
    }
  }
  return {
    now: `has no instance that runs, starts or sleeps, so requests are refused with 404: ${tally(service)}`,
    next: nextStart(instances),
  }
}

function nextStart(instances: readonly ServingInstance[]): string {
  const due = instances
    .flatMap(({ name, restartAtMs }) => (restartAtMs === undefined ? [] : [{ name, restartAtMs }]))
    .toSorted((a, b) => a.restartAtMs - b.restartAtMs)
  const [first] = due
  return first === undefined
    ? 'nothing, until one of its instances is started; traffic does not start a stopped one'
    : `the restart policy of ${first.name} starts it again at ${timeOf(first.restartAtMs)}`
}

function portWork({ destinationPort, handlers }: PublishedPort): string {
  if (handlers.includes(Handler.Redirect)) return `HTTP, redirected to port ${destinationPort}`
  const protocol = handlers.includes(Handler.Http) ? 'HTTP' : 'TCP'
  const over = handlers.includes(Handler.Tls) ? ' over TLS' : ''
  return `${protocol}${over}, to port ${destinationPort} of its instances`
}

const byCertificate = {
  [CertificateState.Valid]: (certificate) => `is served with certificate ${certificate}`,
  [CertificateState.Pending]: (certificate) =>
    `has no certificate yet: connections over TLS end in the handshake until ${certificate} is issued`,
  [CertificateState.Error]: (certificate) =>
    `has no certificate: connections over TLS end in the handshake, and the explanation of ${certificate} says what to do`,
} satisfies Record<CertificateState, (certificate: string) => string>

function domainWork({ certificate }: ExplainedDomain): string {
  return certificate === undefined
    ? "is served with the metro domain's certificate"
    : byCertificate[certificate.state](certificate.name)
}

function instanceWork({ state, nodeId, hostSilentSinceMs, isNew }: ServingInstance): string {
  const silent =
    hostSilentSinceMs === undefined ? '' : `, which has been silent since ${timeOf(hostSilentSinceMs)}`
  const version = isNew === true ? ', of the new version' : ''
  return `${verbOf(state)} on host ${nodeId}${silent}${version}`
}

function failureOf({ name, failure }: ServingInstance): readonly string[] {
  return failure === undefined ? [] : [`${name}: ${failure}`]
}

function certificateFailure({ fqdn, certificate }: ExplainedDomain): readonly string[] {
  if (certificate?.state !== CertificateState.Error) return []
  return [`certificate ${certificate.name} could not be got for ${fqdn}`]
}

/** How many failures are told. A service may have hundreds of instances that fail alike. */
const failuresTold = 3

function listed(failures: readonly string[]): string {
  const more = failures.length - failuresTold
  return [...failures.slice(0, failuresTold), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
