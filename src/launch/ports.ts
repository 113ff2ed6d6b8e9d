import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostAndPort } from '../domain/host-and-port.ts'
import { replaceFile } from '../primitives/replace-file.ts'

/**
 * The range of chosen ports. It is below the range from which the kernel gives ports to clients (32768 and
 * up), so that no client takes one of our ports later.
 */
const lowestPort = 20_000
const highestPort = 32_000
const attempts = 200

export interface PortAt {
  readonly host: string
  readonly port: number
}

/** Without a host, the port of all addresses of this machine. */
export async function isPortFree(at: Partial<PortAt> & Pick<PortAt, 'port'>): Promise<boolean> {
  const server = createServer()
  try {
    const listening = once(server, 'listening')
    server.listen({ ...at, exclusive: true })
    await listening
    server.close()
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false
    throw error
  }
}

/** The port that a setting chooses is in use by another program. */
export class PortInUse extends Error {
  override readonly name = 'PortInUse'
}

export async function requireFreePort(at: PortAt, settingName: string, what: string): Promise<void> {
  if (await isPortFree(at)) return
  throw new PortInUse(
    `port ${at.port} on ${at.host}, for ${what}, is in use; set ${settingName} to another one`,
  )
}

/** The port at which hosts on other machines reach the API is in use. */
export class HostsPortInUse extends PortInUse {
  constructor({ host, port }: PortAt) {
    super(
      `port ${port}, at which further hosts reach the API, is in use: end the program that has it (\`ss -ltnp 'sport = :${port}'\` ` +
        `names it), or, if no host has joined yet, give ROOST_HOSTS_ADDRESS another port than ${hostAndPort({ host, port })}`,
    )
  }
}

/** The API listens for hosts at all addresses of this machine. */
export async function requireFreeHostsPort(at: PortAt): Promise<void> {
  if (!(await isPortFree({ port: at.port }))) throw new HostsPortInUse(at)
}

/**
 * Returns ports for services on 127.0.0.1 whose ports nobody needs to know. The ports of the last start are
 * in `file`. They are used again if they are still free, or if the services that have them run (`areHeld`);
 * otherwise new ones are chosen. `promised` are ports that other services will use but do not listen on yet;
 * they are not chosen.
 */
export async function rememberedPorts<const Name extends string>(
  file: string,
  names: readonly Name[],
  {
    promised = [],
    areHeld = false,
  }: { readonly promised?: readonly number[]; readonly areHeld?: boolean } = {},
): Promise<Readonly<Record<Name, number>>> {
  const before = readPorts(file)
  const chosen = new Map<string, number>()
  for (const name of names) {
    const remembered = before[name]
    const usable =
      remembered !== undefined &&
      !promised.includes(remembered) &&
      (areHeld || (await isPortFree({ host: '127.0.0.1', port: remembered })))
    chosen.set(name, usable ? remembered : await freePort(new Set([...promised, ...chosen.values()])))
  }
  const ports = Object.fromEntries(chosen) as Record<Name, number>
  await replaceFile(file, `${JSON.stringify(ports, undefined, 2)}\n`)
  return ports
}

async function freePort(taken: ReadonlySet<number>): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(lowestPort, highestPort)
    if (!taken.has(port) && (await isPortFree({ host: '127.0.0.1', port }))) return port
  }
  throw new PortInUse(`no free port between ${lowestPort} and ${highestPort} on 127.0.0.1`)
}

function readPorts(file: string): Readonly<Record<string, number | undefined>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>
  } catch {
    return {}
  }
}
