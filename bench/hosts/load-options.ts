import { parseArgs } from 'node:util'

/** How large the section is. */
export interface HostsOptions {
  readonly hosts: number
  readonly instances: number
  /** Creates end after this time, even if fewer instances were created. */
  readonly seconds: number
  /** How many creates are under way at once. */
  readonly atOnce: number
  readonly temporal: TemporalForm
  readonly link: LinkKind
}

/** The embedded server with its SQLite file, or the production server on PostgreSQL. */
export type TemporalForm = (typeof temporalForms)[number]
const temporalForms = ['embedded', 'postgres'] as const

/** Whether hosts use the loopback, as the first machine's own does, or TLS, as those that join do. */
export type LinkKind = (typeof linkKinds)[number]
const linkKinds = ['loopback', 'tls'] as const

/** No subnet is left for more hosts. */
const mostHosts = 1_000
const mostInstances = 16_000
const mostSeconds = 1_800
const mostAtOnce = 256

/**
 * Reads the options out of the arguments of the benchmark. Returns them with the arguments that are left, the
 * names of sections. Throws for an option that is unknown or out of range.
 */
export function readHostsOptions(args: readonly string[]): {
  readonly options: HostsOptions
  readonly names: readonly string[]
} {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      hosts: { type: 'string', default: '200' },
      instances: { type: 'string', default: '10000' },
      seconds: { type: 'string', default: '300' },
      'at-once': { type: 'string', default: '32' },
      temporal: { type: 'string', default: 'embedded' },
      link: { type: 'string', default: 'loopback' },
    },
  })
  const options = {
    hosts: count('--hosts', values.hosts, mostHosts),
    instances: count('--instances', values.instances, mostInstances),
    seconds: count('--seconds', values.seconds, mostSeconds),
    atOnce: count('--at-once', values['at-once'], mostAtOnce),
    temporal: oneOf('--temporal', values.temporal, temporalForms),
    link: oneOf('--link', values.link, linkKinds),
  } as const
  return { options, names: positionals }
}

function count(name: string, text: string, most: number): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= most) return value
  throw new Error(`${name} is '${text}'; it has to be a whole number from 1 to ${most}`)
}

function oneOf<Choice extends string>(name: string, text: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === text)
  if (found !== undefined) return found
  throw new Error(`${name} is '${text}'; it can be ${choices.join(' or ')}`)
}
