import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:tls'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import { answerJoin, certificateFor } from '../../src/api/remote/join.ts'
import { JoinedHosts, keyHash } from '../../src/api/remote/joined-hosts.ts'
import { createRegistryPass } from '../../src/api/remote/registry-pass.ts'
import { controlSettingsFor } from '../../src/api/remote/control-settings.ts'
import { createRemoteServer } from '../../src/api/remote/remote-server.ts'
import { admitHost, inviteHost, joinedMachines } from '../../src/db/host/joining.ts'
import { certifiedRoles } from '../../src/domain/host/role.ts'
import type { CertifiedRole, HostRole } from '../../src/domain/host/role.ts'
import { keyFileNames } from '../../src/domain/host/control-role.ts'
import type { ControlSettings } from '../../src/domain/host/control-role.ts'
import { PlatformPart } from '../../src/domain/platform-part.ts'
import { clientTls } from '../../src/trust/part-identity.ts'
import type { PartIdentity } from '../../src/trust/part-identity.ts'
import { readJoinToken } from '../../src/trust/join-token.ts'
import type { JoinToken } from '../../src/trust/join-token.ts'
import { makePartAuthority, readPublicKey } from '../../src/trust/part-authority.ts'
import { publicKeyOf } from '../../src/trust/kept-identity.ts'
import { makeKey } from '../../src/x509/key-pair.ts'
import type { KeyPairPem } from '../../src/x509/key-pair.ts'
import { startTestApi } from './api-server.ts'
import type { TestApi, TestUser } from './api-server.ts'
import { identityOf } from './part-identities.ts'

export const remoteName = 'api.roost.internal'

/** The API with its listener for hosts on other machines. */
export interface RemoteApi {
  readonly api: TestApi
  readonly admin: TestUser
  readonly authority: KeyPairPem
  readonly place: { readonly host: string; readonly port: number }
  /** The targets that reached the registry. */
  readonly registryTargets: readonly string[]
  /** The hosts whose calls reached the relay. */
  readonly calls: readonly string[]
  invite(name?: string, roles?: readonly HostRole[]): Promise<JoinToken>
  /** Has a machine join under this id, and returns what its agent shows. */
  joined(hostId: string, roles?: readonly HostRole[]): Promise<PartIdentity>
  /** What the part of a machine shows for whose key it joined, whether it has the role or not. */
  partOf(hostId: string, role: CertifiedRole): Promise<PartIdentity>
  /** Resolves with a connection that is open. */
  connect(identity?: Partial<PartIdentity>, options?: ConnectionOptions): Promise<TLSSocket>
  /** Closes the listener for hosts alone. */
  closeRemote(graceMs: number): Promise<void>
  close(): Promise<void>
}

/** What the APIs and workers of these tests have in common. */
export const testControlSettings: ControlSettings = {
  settings: { ROOST_METRO_DOMAIN: 'example.test' },
  keys: Object.fromEntries(keyFileNames.map((name) => [name, `text of ${name}`])),
}

export async function startRemoteApi(): Promise<RemoteApi> {
  const authority = await makePartAuthority(Date.now())
  const registry = await startRegistry()
  const settings = { hostsAddress: { host: '127.0.0.1', port: 7075 } }
  const api = await startTestApi({ authority, settings })
  const { database } = api
  const nowMs = Date.now
  const hosts = new JoinedHosts(async () => await joinedMachines(database))
  const pass = createRegistryPass(registry.url)
  const calls: string[] = []
  const { server, close } = createRemoteServer({
    identity: await identityOf(authority, { part: PlatformPart.Api, id: 'a' }),
    hosts,
    join: async (body) =>
      await answerJoin({ database, authority, nowMs, temporalNamespace: 'default' }, body),
    renew: async (part, publicKey) => await certificateFor({ authority, nowMs }, part, publicKey),
    addresses: () => ['192.0.2.1:7075', '192.0.2.2:7075'],
    controlSettings: async (hostId) => await controlSettingsFor(database, testControlSettings, hostId),
    handle: api.handle,
    temporal({ hostId }, stream) {
      calls.push(hostId)
      stream.respond({ ':status': 200 }, { endStream: true })
    },
    registry: pass,
    onFailure: () => undefined,
    pushesAt: { host: '127.0.0.1', port: Number(new URL(registry.url).port) },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const place = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  const admin = await api.addUser({ admin: true })
  const roleKeys = new Map<string, string>()
  let closing: Promise<void> | undefined
  const closeRemote = async (graceMs: number) => await (closing ??= close(graceMs))
  return {
    api,
    admin,
    authority,
    place,
    registryTargets: registry.targets,
    calls,
    closeRemote,
    async invite(name, roles = []) {
      const body = { ...(name !== undefined && { name }), roles: [...roles] }
      const made = await admin.api.one('inviteHosts', { body })
      return readJoinToken(made.token)!
    },
    async joined(hostId, roles = []) {
      const identity = await identityOf(authority, { part: PlatformPart.Agent, id: hostId })
      const secret = `the secret of ${hostId} ${Math.random()}`
      await inviteHost(database, { hostId, secret, roles })
      const made = certifiedRoles.map((role) => [role, makeKey()] as const)
      for (const [role, key] of made) roleKeys.set(`${role} of ${hostId}`, key)
      const hashes = Object.fromEntries(made.map(([role, key]) => [role, keySha256Of({ key })]))
      await admitHost(database, { secret, keySha256: keySha256Of(identity), roleKeys: hashes })
      return identity
    },
    async partOf(hostId, role) {
      const key = roleKeys.get(`${role} of ${hostId}`)
      return await identityOf(authority, { part: role, id: hostId }, { ...(key !== undefined && { key }) })
    },
    connect: async (identity = {}, options = {}) => await connected(place, authority, { identity, options }),
    async close() {
      hosts.close()
      await closeRemote(0)
      await pass.close()
      registry.close()
      await api.close()
    },
  }
}

export function keySha256Of({ key }: Pick<PartIdentity, 'key'>): string {
  return keyHash(readPublicKey(publicKeyOf(key)).export({ format: 'der', type: 'spki' }))
}

async function connected(
  place: RemoteApi['place'],
  authority: KeyPairPem,
  wanted: { readonly identity: Partial<PartIdentity>; readonly options: ConnectionOptions },
): Promise<TLSSocket> {
  const { certificate = '', key = '' } = wanted.identity
  const shown = certificate === '' ? {} : clientTls({ certificate, key, authority: authority.chain })
  const socket = connect({
    ...place,
    servername: remoteName,
    ...shown,
    ca: authority.chain,
    ...wanted.options,
  })
  await once(socket, 'secureConnect')
  socket.on('error', () => undefined)
  return socket
}

/** A registry that notes what it is asked for. */
async function startRegistry() {
  const targets: string[] = []
  const server = createServer((request: IncomingMessage, response) => {
    targets.push(request.url ?? '')
    response.end('a layer')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets,
    close(): void {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Sends this text and returns all that the server answers until it closes the connection. */
export async function exchange(socket: TLSSocket, text: string): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const closed = once(socket, 'close')
  socket.write(text)
  await closed
  return Buffer.concat(chunks).toString('utf8')
}

/** A request of HTTP/1.1 after which the server closes the connection. */
export function requestText(
  line: string,
  options: { readonly headers?: readonly string[]; readonly body?: string } = {},
): string {
  const { headers = [], body = '' } = options
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const all = [`${line} HTTP/1.1`, `Host: ${remoteName}`, 'Connection: close', ...length, ...headers]
  return `${all.join('\r\n')}\r\n\r\n${body}`
}
