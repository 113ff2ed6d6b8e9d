import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { writeOciLayout } from '../../samples/oci-layout.ts'
import { createRegistryClient } from '../../src/registry/registry-client.ts'
import { RegistryError, RegistryFailure } from '../../src/registry/registry-error.ts'
import { createRegistryHttp } from '../../src/registry/registry-http.ts'
import { createRegistryUpload } from '../../src/registry/registry-upload.ts'
import { generateRegistrySigningKey, readRegistrySigningKey } from '../../src/registry/signing-key.ts'
import { createRegistryTokenIssuer, issuePlatformToken } from '../../src/registry/token-issuer.ts'
import { pushTestImage } from '../support/oci-image.ts'
import { startTestRegistry, testUsers } from '../support/registry.ts'
import type { TestRegistry } from '../support/registry.ts'

const run = promisify(execFile)
const skopeoTimeoutMs = 20_000

describe('who may do what in the registry, with skopeo as the client', () => {
  let registry: TestRegistry
  let layout: string
  before(async () => {
    registry = await startTestRegistry()
    layout = await mkdtemp(join(tmpdir(), 'roost-layout-'))
    await writeOciLayout(layout, [{ name: 'app', files: [{ path: 'etc' }], config: { Cmd: ['/x'] } }])
    for (const repository of ['official/shared', 'ann/private', 'bob/private']) {
      await pushTestImage(registry.upload, { repository, tag: 'latest' }, { layers: [] })
    }
  })
  after(async () => {
    await registry.close()
    await rm(layout, { recursive: true })
  })

  function credentials(user: string | undefined, side: 'src' | 'dest'): string[] {
    if (user === undefined) return [`--${side}-no-creds`]
    const password = testUsers.find(({ name }) => name === user)?.password ?? 'wrong'
    return [`--${side}-creds=${user}:${password}`]
  }

  async function copies(from: string, to: string, options: readonly string[]): Promise<boolean> {
    const plain = ['--src-tls-verify=false', '--dest-tls-verify=false']
    return await run('skopeo', ['--insecure-policy', 'copy', '-q', ...plain, ...options, from, to], {
      timeout: skopeoTimeoutMs,
    }).then(
      () => true,
      (error: unknown) => {
        assert.match(String(error), /denied|unauthorized|authentication required|access to the resource/i)
        return false
      },
    )
  }

  const pushes = (user: string | undefined, name: string) =>
    copies(`oci:${layout}:app`, `docker://${registry.host}/${name}`, credentials(user, 'dest'))

  async function pulls(user: string | undefined, name: string): Promise<boolean> {
    const target = await mkdtemp(join(tmpdir(), 'roost-pulled-'))
    try {
      return await copies(`docker://${registry.host}/${name}`, `dir:${target}`, credentials(user, 'src'))
    } finally {
      await rm(target, { recursive: true })
    }
  }

  it('a user pushes to their own namespace and pulls it again', async () => {
    assert.equal(await pushes('ann', 'ann/app:v1'), true)
    assert.equal(await pulls('ann', 'ann/app:v1'), true)
  })

  it("a user neither pushes to nor pulls from another's namespace", async () => {
    assert.equal(await pushes('ann', 'bob/app:v1'), false)
    assert.equal(await pulls('ann', 'bob/private'), false)
    assert.equal(await registry.client.digestOf('bob/app', 'v1'), undefined)
  })

  it('everybody pulls official images, also without a login; only administrators push them', async () => {
    assert.equal(await pulls('ann', 'official/shared'), true)
    assert.equal(await pulls(undefined, 'official/shared'), true)
    assert.equal(await pushes('ann', 'official/shared:mine'), false)
    assert.equal(await pushes('admin', 'official/shared:new'), true)
  })

  it("being an administrator opens no way into a user's images", async () => {
    assert.equal(await pulls('admin', 'ann/private'), false)
  })

  it('without a login nothing of a user is read or written', async () => {
    assert.equal(await pulls(undefined, 'ann/private'), false)
    assert.equal(await pushes(undefined, 'ann/app:v2'), false)
  })

  it('a wrong password is refused even for what needs none', async () => {
    const wrong = ['--src-creds=ann:nonsense']
    const target = await mkdtemp(join(tmpdir(), 'roost-pulled-'))
    assert.equal(await copies(`docker://${registry.host}/official/shared`, `dir:${target}`, wrong), false)
    await rm(target, { recursive: true })
  })

  it("a namespace that only begins with the user's name belongs to another user", async () => {
    assert.equal(await pushes('ann', 'anna/app:v1'), false)
  })

  it('a token of the platform for one repository opens no other', async () => {
    const http = createRegistryHttp({
      url: registry.url,
      token: () => issuePlatformToken(registry.issuer, 'ann/private'),
    })
    try {
      const client = createRegistryClient(http)
      assert.notEqual(await client.digestOf('ann/private', 'latest'), undefined)
      await assert.rejects(client.digestOf('bob/private', 'latest'), isFailure(RegistryFailure.Denied))
      await assert.rejects(client.repositories('ann'), isFailure(RegistryFailure.Denied))
      const upload = createRegistryUpload(http).blob('ann/private', { digest: 'sha256:0', size: 1 }, () =>
        Buffer.of(1),
      )
      await assert.rejects(upload, isFailure(RegistryFailure.Denied))
    } finally {
      await http.close()
    }
  })

  it('tokens that are expired or signed by another key are refused', async () => {
    const strangerKey = readRegistrySigningKey(await generateRegistrySigningKey(Date.now()))
    const stranger = createRegistryTokenIssuer(strangerKey)
    assert.equal(await statusWith(await issuePlatformToken(stranger, 'official/shared')), 401)
    assert.equal(await statusWith(await issuePlatformToken(registry.issuer, 'official/shared')), 200)
    const past = createRegistryTokenIssuer(registry.key, () => Date.now() - 3_600_000)
    assert.equal(await statusWith(await issuePlatformToken(past, 'official/shared')), 401)
  })

  async function statusWith(token: string): Promise<number> {
    const response = await fetch(`${registry.url}/v2/official/shared/tags/list`, {
      headers: { authorization: `Bearer ${token}` },
    })
    await response.arrayBuffer()
    return response.status
  }
})

function isFailure(failure: RegistryFailure) {
  return (error: unknown) => error instanceof RegistryError && error.failure === failure
}
