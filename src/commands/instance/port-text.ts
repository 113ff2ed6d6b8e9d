import { usage } from '../session.ts'

/** A published port as a request has it. */
export interface PortText {
  readonly port: number
  readonly destination_port?: number
  readonly handlers?: Handler[]
}

const handlerNames = ['tls', 'http', 'redirect'] as const
type Handler = (typeof handlerNames)[number]

/**
 * Reads a port as people write it: `443:8080` publishes the application's port 8080 as 443, and
 * `5432:5432/tls` says which handlers it has.
 */
export function parsePort(text: string): PortText {
  const [, port = '', destination, handlers] = /^(\d{1,5})(?::(\d{1,5}))?(?:\/([a-z+]+))?$/.exec(text) ?? []
  const given = handlers?.split('+')
  const known = given?.filter((name): name is Handler => (handlerNames as readonly string[]).includes(name))
  if (port === '' || known?.length !== given?.length) {
    throw usage(
      `'${text}' is no port: expected <public>[:<application's>][/<handler>+<handler>], such as 443:8080`,
    )
  }
  return {
    port: Number(port),
    ...(destination === undefined ? {} : { destination_port: Number(destination) }),
    ...(known === undefined ? {} : { handlers: known }),
  }
}

/** A domain with a dot is a name of the user's own, which the API writes with a dot at its end. */
export function parseDomain(text: string): { name: string } {
  return { name: text.includes('.') && !text.endsWith('.') ? `${text}.` : text }
}

/** Reads a size in MiB: `256`, `256M` or `1G`. */
export function parseMegabytes(text: string): number {
  const [, number, unit = ''] = /^(\d{1,9})(M|MiB|MB|G|GiB|GB)?$/i.exec(text) ?? []
  if (number === undefined) throw usage(`'${text}' is no size: expected MiB, such as 256, 256M or 1G`)
  return Number(number) * (unit.toUpperCase().startsWith('G') ? 1024 : 1)
}

/** Reads an attachment: `<volume>:<path>`, and `:ro` if the instance only reads. */
export function parseMount(text: string): {
  readonly name: string
  readonly at: string
  readonly readonly: boolean
} {
  const [, name, at, mode] = /^([^:]+):(\/[^:]*)(?::(ro|rw))?$/.exec(text) ?? []
  if (name === undefined || at === undefined) {
    throw usage(`'${text}' is no attachment: expected <volume>:<path>[:ro], such as notes:/data`)
  }
  return { name, at, readonly: mode === 'ro' }
}

/** Reads when an instance sleeps: `on`, `idle`, and `stateful` if its memory is kept. */
export function parseSleep(text: string): {
  readonly policy: 'off' | 'on' | 'idle'
  readonly stateful: boolean
} {
  const words = text.split(',')
  const policy = (['off', 'on', 'idle'] as const).find((one) => words.includes(one)) ?? 'on'
  const stateful = words.includes('stateful')
  if (words.some((word) => !['off', 'on', 'idle', 'stateful'].includes(word))) {
    throw usage(
      `'${text}' is no value for --scale-to-zero: expected on, idle, stateful, idle,stateful or off`,
    )
  }
  return { policy, stateful }
}

const maxVariables = 1_000

/** Reads variables: `NAME=value`, or `NAME` for the value that the variable has here. */
export function parseVariables(
  texts: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  if (texts.length > maxVariables) throw usage(`${texts.length} variables, but at most ${maxVariables}`)
  return Object.fromEntries(
    texts.map((text) => {
      const [, name = '', value] = /^([^=]+)(?:=([^]*))?$/.exec(text) ?? []
      const found = value ?? environment[name]
      if (name === '') throw usage(`'${text}' is no variable: expected NAME=value`)
      if (found === undefined) throw usage(`the variable ${name} has no value here: give ${name}=value`)
      return [name, found]
    }),
  )
}
