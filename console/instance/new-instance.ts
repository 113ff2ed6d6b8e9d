import type { FormReading } from '../object/form-reading.ts'
import { defaultMemoryMb } from '../../src/domain/instance/defaults.ts'
import { RestartPolicy } from '../../src/domain/instance/restart-policy.ts'
import { ScaleToZeroPolicy } from '../../src/domain/standby/scale-to-zero.ts'

/** What a person has filled in, as texts. */
export interface Draft {
  readonly image: string
  readonly name: string
  readonly memoryMb: string
  readonly args: string
  readonly env: string
  readonly restart: RestartPolicy
  readonly isPublic: boolean
  readonly domain: string
  readonly port: string
  readonly sleeps: boolean
  readonly keepsMemory: boolean
  readonly starts: boolean
}

export const emptyDraft: Draft = {
  image: '',
  name: '',
  memoryMb: String(defaultMemoryMb),
  args: '',
  env: '',
  restart: RestartPolicy.Never,
  isPublic: true,
  domain: '',
  port: '8080',
  sleeps: true,
  keepsMemory: true,
  starts: true,
}

export type NewInstance = ReturnType<typeof requestOf>

export type Reading = FormReading<NewInstance, keyof Draft>

const publicPort = 443
const maxPort = 65_535
const variable = /^([^=\s]+)=(.*)$/

/** The request that a draft means, or the first thing that is wrong with it. The API checks the rest. */
export function readDraft(draft: Draft): Reading {
  if (draft.image.trim() === '') return wrong('image', 'Give an image, such as hello:latest.')
  const memoryMb = readMemory(draft.memoryMb)
  if (typeof memoryMb === 'string') return wrong('memoryMb', memoryMb)
  const port = Number(draft.port)
  if (draft.isPublic && !(Number.isInteger(port) && port >= 1 && port <= maxPort)) {
    return wrong('port', `Give the port of the application, from 1 to ${maxPort}; '${draft.port}' is none.`)
  }
  const domain = publicLabel(draft)
  if (draft.isPublic && domain === '') {
    return wrong('domain', 'Give a public name, or a name for the instance, which is then both.')
  }
  const env = readVariables(draft.env)
  if (typeof env === 'string') return wrong('env', env)
  return { ok: true, request: requestOf(draft, { memoryMb, port, domain, env }) }
}

interface ReadValues {
  readonly memoryMb: number
  readonly port: number
  readonly domain: string
  readonly env: Readonly<Record<string, string>>
}

function requestOf(draft: Draft, { memoryMb, port, domain, env }: ReadValues) {
  const [name, args] = [draft.name.trim(), draft.args.trim()]
  return {
    ...(name === '' ? {} : { name }),
    image: draft.image.trim(),
    memory_mb: memoryMb,
    ...(args === '' ? {} : { args }),
    ...(Object.keys(env).length === 0 ? {} : { env: { ...env } }),
    ...(draft.restart === RestartPolicy.Never ? {} : { restart_policy: draft.restart }),
    ...(draft.isPublic && {
      service_group: {
        services: [{ port: publicPort, destination_port: port }],
        domains: [{ name: domain }],
      },
    }),
    ...(draft.isPublic &&
      draft.sleeps && { scale_to_zero: { policy: ScaleToZeroPolicy.On, stateful: draft.keepsMemory } }),
    ...(draft.starts && { autostart: true }),
  }
}

function publicLabel({ domain, name }: Draft): string {
  return (domain.trim() || name.trim()).toLowerCase()
}

/** The memory in MiB, or what is wrong with it. */
export function readMemory(text: string): number | string {
  const memoryMb = Number(text)
  return Number.isInteger(memoryMb) && memoryMb >= 1
    ? memoryMb
    : `Give the memory as a whole number of MiB; '${text}' is none.`
}

/** The variables, or what is wrong with them. */
export function readVariables(text: string): Readonly<Record<string, string>> | string {
  const env: Record<string, string> = {}
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, name, value] = variable.exec(line) ?? []
    if (name === undefined || value === undefined) {
      return `Write each variable as NAME=value on a line of its own; '${line.slice(0, 40)}' is not.`
    }
    env[name] = value
  }
  return env
}

function wrong(field: keyof Draft, problem: string): Reading {
  return { ok: false, field, problem }
}
