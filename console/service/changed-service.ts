import type { FormReading } from '../object/form-reading.ts'
import { maxPort, readPort, wordsOf } from './new-service.ts'
import type { NewPort } from './new-service.ts'
import type { Service } from './store.ts'

/** What a person has filled in, as texts. */
export interface ServiceChangeDraft {
  readonly domains: string
  readonly ports: string
  readonly softLimit: string
  readonly hardLimit: string
}

/** The form as it is at first: what the service has. */
export function draftOfService(service: Service): ServiceChangeDraft {
  const { domains = [], services: ports = [], soft_limit: softLimit, hard_limit: hardLimit } = service
  return {
    domains: domains.map(({ fqdn }) => `${fqdn}.`).join(' '),
    ports: ports.map(portText).join(' '),
    softLimit: String(softLimit ?? ''),
    hardLimit: String(hardLimit ?? ''),
  }
}

type Ports = NonNullable<Service['services']>

function portText({ port, destination_port: own }: Ports[number]): string {
  return `${port}:${own}`
}

interface ChangedService {
  domains?: { name: string }[]
  services?: NewPort[]
  soft_limit?: number
  hard_limit?: number
}

/** The request that a draft means: only what is other than the service has it. */
export function readServiceChange(
  service: Service,
  draft: ServiceChangeDraft,
): FormReading<ChangedService, keyof ServiceChangeDraft> {
  const before = draftOfService(service)
  const request: ChangedService = {}
  if (draft.domains !== before.domains) {
    request.domains = wordsOf(draft.domains).map((name) => ({ name: name.toLowerCase() }))
  }
  if (draft.ports !== before.ports) {
    const ports = readPorts(draft.ports, service.services ?? [])
    if (typeof ports === 'string') return { ok: false, field: 'ports', problem: ports }
    request.services = ports
  }
  for (const [field, name] of [
    ['softLimit', 'soft_limit'],
    ['hardLimit', 'hard_limit'],
  ] as const) {
    if (draft[field] === before[field]) continue
    const value = Number(draft[field])
    if (!Number.isInteger(value) || value < 1) {
      return { ok: false, field, problem: `Give a whole number from 1 on; '${draft[field]}' is none.` }
    }
    request[name] = value
  }
  if (Object.keys(request).length === 0) {
    return { ok: false, field: 'domains', problem: 'Nothing is other than it was.' }
  }
  return { ok: true, request }
}

/** A port that leads where it led keeps its handlers. */
function readPorts(text: string, before: Ports): NewPort[] | string {
  const ports: NewPort[] = []
  for (const word of wordsOf(text)) {
    const read = readPort(word)
    if (read === undefined) {
      return `Give ports as numbers from 1 to ${maxPort}, such as 443:8080; '${word.slice(0, 40)}' is none.`
    }
    const same = before.find((one) => portText(one) === portText({ ...read, handlers: [] }))
    ports.push({ ...read, ...(same && { handlers: [...same.handlers] }) })
  }
  return ports
}
