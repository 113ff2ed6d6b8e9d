import { Handler } from '../../src/domain/service/handler.ts'
import type { FormReading } from '../object/form-reading.ts'

/** What a person has filled in, as texts. */
export interface ServiceDraft {
  readonly name: string
  readonly domains: string
  readonly ports: string
  readonly redirects: boolean
}

export const emptyServiceDraft: ServiceDraft = { name: '', domains: '', ports: '443:8080', redirects: false }

const httpPort = 80
const httpsPort = 443
export const maxPort = 65_535
const redirecting = [Handler.Http, Handler.Redirect] as const
const portPair = /^(\d{1,5})(?::(\d{1,5}))?$/

export interface NewPort {
  port: number
  destination_port: number
  handlers?: Handler[]
}

interface NewService {
  readonly name?: string
  services: NewPort[]
  domains: { name: string }[]
}

/** The request that a draft means. */
export function readServiceDraft(draft: ServiceDraft): FormReading<NewService, keyof ServiceDraft> {
  const services: NewPort[] = []
  for (const text of wordsOf(draft.ports)) {
    const port = readPort(text)
    if (port === undefined) {
      const problem = `Give ports as numbers from 1 to ${maxPort}, such as 443:8080; '${text.slice(0, 40)}' is none.`
      return { ok: false, field: 'ports', problem }
    }
    services.push(port)
  }
  if (services.length === 0) {
    return { ok: false, field: 'ports', problem: 'Give at least one port, such as 443:8080.' }
  }
  if (draft.redirects) {
    services.push({ port: httpPort, destination_port: httpsPort, handlers: [...redirecting] })
  }
  const name = draft.name.trim()
  const domains = wordsOf(draft.domains).map((domain) => ({ name: domain.toLowerCase() }))
  return { ok: true, request: { ...(name === '' ? {} : { name }), services, domains } }
}

/** The command that creates the same. */
export function serviceCommand({ name, domains, ports, redirects }: ServiceDraft): string {
  return [
    `npx roost service create${name.trim() === '' ? '' : ` ${name.trim()}`}`,
    ...wordsOf(ports).map((port) => `--port ${port}`),
    ...(redirects ? [`--port ${httpPort}:${httpsPort}/${redirecting.join('+')}`] : []),
    ...wordsOf(domains).map((domain) => `--domain ${domain}`),
  ].join(' \\\n  ')
}

export function readPort(text: string): NewPort | undefined {
  const [, port, own = port] = portPair.exec(text) ?? []
  const numbers = { port: Number(port), destination_port: Number(own) }
  const fit = Object.values(numbers).every((number) => number >= 1 && number <= maxPort)
  return fit ? numbers : undefined
}

export function wordsOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}
