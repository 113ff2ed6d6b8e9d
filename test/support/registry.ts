import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readInstalled, requireInstalled } from '../../src/launch/installed.ts'
import { freePort } from '../../src/primitives/free-ports.ts'
import { createRegistryClient } from '../../src/registry/registry-client.ts'
import type { RegistryClient } from '../../src/registry/registry-client.ts'
import { registryConfig } from '../../src/registry/registry-config.ts'
import { createRegistryHttp } from '../../src/registry/registry-http.ts'
import type { RegistryHttp } from '../../src/registry/registry-http.ts'
import { RegistryAction, allActions } from '../../src/registry/registry-scope.ts'
import type { RegistryUser } from '../../src/registry/registry-scope.ts'
import { createRegistryUpload } from '../../src/registry/registry-upload.ts'
import type { RegistryUpload } from '../../src/registry/registry-upload.ts'
import { generateRegistrySigningKey, readRegistrySigningKey } from '../../src/registry/signing-key.ts'
import type { RegistrySigningKey } from '../../src/registry/signing-key.ts'
import {
  answerTokenRequest,
  createRegistryTokenIssuer,
  issuePlatformToken,
} from '../../src/registry/token-issuer.ts'
import type { AuthenticateRegistryUser, RegistryTokenIssuer } from '../../src/registry/token-issuer.ts'

/**
 * A real docker-registry on a free port of the loopback, with token authentication by Roost's own issuer.
 */
export interface TestRegistry {
  /** `127.0.0.1:<port>` */
  readonly host: string
  readonly url: string
  /** The URL at which clients get tokens. */
  readonly tokenUrl: string
  readonly storageDirectory: string
  readonly issuer: RegistryTokenIssuer
  /** The key that the registry trusts. */
  readonly key: RegistrySigningKey
  /** The same key, with the certificate that the registry trusts, as files have them. */
  readonly pem: { readonly key: string; readonly certificate: string }
  /** A client with the platform's own tokens, which may read and write everything. */
  readonly http: RegistryHttp
  readonly client: RegistryClient
  readonly upload: RegistryUpload
  close(): Promise<void>
}

export interface TestRegistryUser extends RegistryUser {
  readonly password: string
}

export const testUsers: readonly TestRegistryUser[] = [
  { name: 'admin', admin: true, actions: allActions, password: 'admin-secret' },
  { name: 'ann', admin: false, actions: allActions, password: 'ann-secret' },
  { name: 'bob', admin: false, actions: allActions, password: 'bob-secret' },
]

const startTimeoutMs = 10_000

/**
 * Starts a registry. If `bounded`, users' tokens allow a push only through a registry owner in front of it.
 */
export async function startTestRegistry({ bounded = false } = {}): Promise<TestRegistry> {
  const directory = await mkdtemp(join(tmpdir(), 'roost-registry-'))
  const storageDirectory = join(directory, 'storage')
  await mkdir(storageDirectory)
  const pem = await generateRegistrySigningKey(Date.now())
  const key = readRegistrySigningKey(pem)
  const issuer = createRegistryTokenIssuer(key)
  const tokens = await serveTokens(issuer, bounded)
  const host = `127.0.0.1:${await freePort()}`
  const certificateFile = join(directory, 'registry.crt')
  const configFile = join(directory, 'registry.yml')
  await writeFile(certificateFile, pem.certificate)
  await writeFile(
    configFile,
    registryConfig({ storageDirectory, address: host, realm: tokens.realm, certificateFile }),
  )
  const child = spawn(requireInstalled(readInstalled(), 'registry'), ['serve', configFile], {
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  const url = `http://${host}`
  await answering(`${url}/v2/`)
  const http = createRegistryHttp({
    url,
    token: (repository) => issuePlatformToken(issuer, repository, Object.values(RegistryAction)),
  })
  return {
    host,
    url,
    storageDirectory,
    issuer,
    key,
    pem,
    tokenUrl: tokens.realm,
    http,
    client: createRegistryClient(http),
    upload: createRegistryUpload(http),
    async close() {
      await http.close()
      child.kill('SIGKILL')
      await exited
      await tokens.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const authenticate: AuthenticateRegistryUser = async ({ user, password }) =>
  testUsers.find((known) => known.name === user && known.password === password)

async function serveTokens(
  issuer: RegistryTokenIssuer,
  bounded: boolean,
): Promise<{ realm: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams
    const asked = {
      authorization: request.headers.authorization,
      service: query.get('service') ?? undefined,
      scopes: query.getAll('scope'),
    }
    void answerTokenRequest(asked, { issuer, authenticate, bounded }).then((answer) => {
      response.statusCode = answer.status
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answer.status === 200 ? answer.body : { message: answer.message }))
    })
  })
  const port = await listening(server.listen(0, '127.0.0.1'))
  return {
    realm: `http://127.0.0.1:${port}/registry/token`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function listening(server: Server): Promise<number> {
  await once(server, 'listening')
  const address: AddressInfo | string | null = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port')
  return address.port
}

/**
 * Waits until the registry refuses a call without a token. That shows that a registry with token
 * authentication is ready.
 */
async function answering(url: string): Promise<void> {
  const deadline = Date.now() + startTimeoutMs
  while (Date.now() < deadline) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0,
    )
    if (status === 401) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`docker-registry did not answer within ${startTimeoutMs} ms`)
}
