import { isIP } from 'node:net'
import { CommandFailure } from '../command-failure.ts'
import { one } from '../../client/answers.ts'
import { untilInterrupted, usage } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import { awaitEnd } from './tunnel-end.ts'
import { Tunnel } from './tunnel.ts'
import type { TunnelPorts } from './tunnel.ts'

interface TunnelOptions {
  readonly address: string
}

const maxPort = 65_535
/** The most ports of one command. Each has a socket that listens. */
const maxPorts = 32

export function addTunnelCommand({ program, session }: CommandLine): void {
  program
    .command('tunnel <instance> <ports...>')
    .usage('[options] <instance> [<local>:]<port>...')
    .description('lead ports of this machine to ports in an instance, until Ctrl-C')
    .option('--address <address>', 'the address of this machine at which they listen', '127.0.0.1')
    .addHelpText(
      'after',
      '\nThe application may listen at the loopback address of the instance or at its own, and needs no service. Without' +
        '\n<local>: the port is the same on both sides; with 0: this machine chooses one. A sleeping instance is woken by a' +
        '\nconnection, and stays awake while there is one.',
    )
    .action(async (object: string, texts: readonly string[], { address }: TunnelOptions) => {
      if (isIP(address) === 0) throw usage(`'${address}' is no value for --address: expected an IP address`)
      if (texts.length > maxPorts)
        throw usage(`there are ${String(texts.length)} ports, but a tunnel has at most ${String(maxPorts)}`)
      await open(await session(), { object, address, ports: texts.map(tunnelPorts) })
    })
}

/** Reads `port` or `local:port`. */
function tunnelPorts(text: string): TunnelPorts {
  const [, first = '', second] = /^(\d{1,5})(?::(\d{1,5}))?$/.exec(text) ?? []
  const local = Number(first)
  const port = Number(second ?? first)
  if (first === '' || port < 1 || port > maxPort || local > maxPort)
    throw usage(
      `'${text}' is no pair of ports: expected <port> or <local>:<port>, each at most ${String(maxPort)}`,
    )
  return { local, port }
}

async function open(
  session: Session,
  {
    object,
    address,
    ports,
  }: { readonly object: string; readonly address: string; readonly ports: readonly TunnelPorts[] },
): Promise<void> {
  const { client, deps } = session
  const found = one(await client.GET('/v1/instances/{object}', { params: { path: { object } } }))
  const { uuid, name, state } = found
  if (state === 'stopped') throw new CommandFailure(`${name} is stopped. \`roost start\` starts it.`)
  const over = new AbortController()
  const signal = AbortSignal.any([deps.signal, over.signal])
  const tunnels = ports.map((pair) => new Tunnel(session, { instance: uuid, address, ...pair }))
  try {
    for (const tunnel of tunnels) await tunnel.listen()
    session.answer({
      json: tunnels.map(({ localPort, port }) => ({ instance: name, address, local_port: localPort, port })),
      text: tunnels
        .map((each) => `${address}:${each.localPort} leads to port ${each.port} of ${name}`)
        .join('\n'),
    })
    await untilInterrupted(deps, async () => {
      const ended = tunnels.map(async (tunnel) => await tunnel.ended(signal))
      throw new CommandFailure(await Promise.race([...ended, awaitEnd(session, { uuid, name }, signal)]))
    })
  } finally {
    over.abort()
    for (const tunnel of tunnels) tunnel.close()
  }
}
