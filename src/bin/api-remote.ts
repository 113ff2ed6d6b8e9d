import { hkdfSync } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { ApiAddresses } from '../api/remote/api-addresses.ts'
import { controlSettingsFor } from '../api/remote/control-settings.ts'
import { answerJoin, certificateFor } from '../api/remote/join.ts'
import { JoinedHosts } from '../api/remote/joined-hosts.ts'
import { createRegistryPass } from '../api/remote/registry-pass.ts'
import { createRemoteServer } from '../api/remote/remote-server.ts'
import type { TemporalAddress } from '../control/temporal-control.ts'
import type { Database } from '../db/database.ts'
import { joinedMachines } from '../db/host/joining.ts'
import type { ControlSettings } from '../domain/host/control-role.ts'
import { hostAndPort } from '../domain/host-and-port.ts'
import { HostsPortInUse } from '../launch/ports.ts'
import type { PortAt } from '../launch/ports.ts'
import { createTemporalRelay } from '../relay/temporal-relay.ts'
import { SettingError } from '../settings/setting-formats.ts'
import type { OwnIdentity } from '../trust/own-identity.ts'
import { serverTls } from '../trust/part-identity.ts'
import type { KeyPairPem } from '../x509/key-pair.ts'

/** The label under which every API process makes the same key of task tokens from the secret key. */
const taskTokens = 'roost task tokens'
const tokenKeyBytes = 32
const closeGraceMs = 2_000

/** Listens for hosts on other machines. Throws `SettingError` if another program has the port. */
export async function openRemoteServer(options: {
  /** Where hosts find this machine. The server listens at all its addresses. */
  readonly at: PortAt
  readonly identity: OwnIdentity
  readonly authority: KeyPairPem
  readonly database: Database
  readonly temporal: TemporalAddress
  readonly secretKey: Uint8Array
  readonly registryUrl: string
  /** The registry's owner, through which users push. Absent: they push elsewhere. */
  readonly pushesAt?: { readonly host: string; readonly port: number }
  /** What processes of the API and workers have in common. */
  readonly shared: ControlSettings
  readonly handle: (request: IncomingMessage, response: ServerResponse) => unknown
  readonly nowMs: () => number
  readonly log: Logger
}): Promise<{ close(): Promise<void> }> {
  const { identity, authority, database, nowMs } = options
  const hosts = new JoinedHosts(async () => await joinedMachines(database))
  const registry = createRegistryPass(options.registryUrl)
  const joinDeps = { database, authority, nowMs, temporalNamespace: options.temporal.namespace }
  const relay = createTemporalRelay({
    temporal: options.temporal,
    tokenKey: Buffer.from(hkdfSync('sha256', options.secretKey, '', taskTokens, tokenKeyBytes)),
    log: options.log,
  })
  const addresses = new ApiAddresses(database, hostAndPort(options.at))
  const { server, close } = createRemoteServer({
    identity: identity.current,
    hosts,
    join: async (body) => await answerJoin(joinDeps, body),
    renew: async (part, publicKey) => await certificateFor({ authority, nowMs }, part, publicKey),
    addresses: () => addresses.current,
    async controlSettings(hostId) {
      const settings = await controlSettingsFor(database, options.shared, hostId)
      if (settings) options.log.info({ host: hostId }, 'a machine was told the keys of the installation')
      return settings
    },
    handle: options.handle,
    temporal: (host, stream, headers) => relay.handle(host, stream, headers),
    registry,
    onFailure: (error) => options.log.error({ err: error }, 'a request of a machine that joined failed'),
    ...(options.pushesAt && { pushesAt: options.pushesAt }),
  })
  identity.onChange((next) => server.setSecureContext(serverTls(next)))
  server.listen(options.at.port)
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'EADDRINUSE'
      ? new SettingError(new HostsPortInUse(options.at).message, { cause })
      : cause
  })
  addresses.begin()
  return {
    async close() {
      addresses.close()
      hosts.close()
      await relay.close()
      await close(closeGraceMs)
      await registry.close()
    },
  }
}
