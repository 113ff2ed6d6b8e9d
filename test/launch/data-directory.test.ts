import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { lockDataDirectory } from '../../src/launch/data-directory.ts'
import { DirectoryInUse } from '../../src/primitives/directory-lock.ts'
import { ensureKeys, ensureSecret } from '../../src/launch/keys.ts'
import { isPortFree, PortInUse, rememberedPorts, requireFreePort } from '../../src/launch/ports.ts'
import { readRegistrySigningKey } from '../../src/registry/signing-key.ts'

describe('a data directory', () => {
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'roost-data-'))
  })

  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  it('belongs to one stack: a second one is refused and told what to set', () => {
    const lock = lockDataDirectory(directory)
    assert.throws(
      () => lockDataDirectory(directory),
      (error: Error) => {
        assert.ok(error instanceof DirectoryInUse)
        assert.match(error.message, new RegExp(`process ${process.pid}`))
        assert.match(error.message, /ROOST_DATA_DIR/)
        return true
      },
    )
    lock.release()
  })

  it('is free again once its stack has closed it', () => {
    lockDataDirectory(directory).release()
    lockDataDirectory(directory).release()
  })

  describe('its keys', () => {
    const files = () => ({
      secretKeyFile: path.join(directory, 'keys', 'secret.key'),
      joinTokenFile: path.join(directory, 'keys', 'join-token'),
      gatewayTokenFile: path.join(directory, 'keys', 'gateway-token'),
      registryKeyFile: path.join(directory, 'keys', 'registry.key'),
      registryCertFile: path.join(directory, 'keys', 'registry.crt'),
      authorityKeyFile: path.join(directory, 'keys', 'authority.key'),
      authorityCertFile: path.join(directory, 'keys', 'authority.crt'),
    })

    it('are made once and never replaced', async () => {
      const joined = () => ({ ...files(), hostsAddress: {} })
      await ensureKeys(joined(), Date.now())
      const before = Object.values(files()).map((file) => readFileSync(file, 'utf8'))
      await ensureKeys(joined(), Date.now())
      assert.deepEqual(
        Object.values(files()).map((file) => readFileSync(file, 'utf8')),
        before,
      )
    })

    it('can be read by their owner alone', async () => {
      await ensureKeys(files(), Date.now())
      for (const name of readdirSync(path.join(directory, 'keys'))) {
        assert.equal(statSync(path.join(directory, 'keys', name)).mode & 0o077, 0, name)
      }
      assert.equal(statSync(path.join(directory, 'keys')).mode & 0o077, 0)
    })

    it('are 32 bytes that encrypt, and a pair that signs tokens for the registry', async () => {
      await ensureKeys(files(), Date.now())
      assert.equal(Buffer.from(readFileSync(files().secretKeyFile, 'utf8'), 'base64').length, 32)
      const certificate = readFileSync(files().registryCertFile, 'utf8')
      readRegistrySigningKey({ key: readFileSync(files().registryKeyFile, 'utf8'), certificate })
      assert.ok(Date.parse(new X509Certificate(certificate).validTo) > Date.now())
    })

    it('are made anew as a pair when a crash left only the certificate', async () => {
      await ensureKeys(files(), Date.now())
      rmSync(files().registryKeyFile)
      await ensureKeys(files(), Date.now())
      readRegistrySigningKey({
        key: readFileSync(files().registryKeyFile, 'utf8'),
        certificate: readFileSync(files().registryCertFile, 'utf8'),
      })
    })

    it('are the same for several processes that ask for them at once', async () => {
      const file = path.join(directory, 'keys', 'one')
      let made = 0
      await ensureSecret(file, () => `secret ${made++}`)
      assert.equal(await ensureSecret(file, () => `secret ${made++}`), 'secret 0')
    })
  })

  describe('its ports', () => {
    it('stay the same from start to start', async () => {
      const file = path.join(directory, 'ports.json')
      const first = await rememberedPorts(file, ['a', 'b'])
      assert.notEqual(first.a, first.b)
      assert.deepEqual(await rememberedPorts(file, ['a', 'b']), first)
      const other = await rememberedPorts(file, ['a', 'b'], { promised: [first.a] })
      assert.notEqual(other.a, first.a)
      assert.equal(other.b, first.b)
    })

    it('stay if the services of another version have them', async () => {
      const file = path.join(directory, 'ports.json')
      const first = await rememberedPorts(file, ['a', 'b'])
      const before = createServer().listen(first.a, '127.0.0.1')
      await once(before, 'listening')
      try {
        const { c, ...second } = await rememberedPorts(file, ['a', 'b', 'c'], { areHeld: true })
        assert.deepEqual(second, first)
        assert.ok(c > 0, 'a service of the next version gets a port')
      } finally {
        before.close()
      }
    })

    it('change if another program has taken them meanwhile', async () => {
      const file = path.join(directory, 'ports.json')
      const first = await rememberedPorts(file, ['a', 'b'])
      const squatter = createServer().listen(first.a, '127.0.0.1')
      await once(squatter, 'listening')
      try {
        const second = await rememberedPorts(file, ['a', 'b'])
        assert.notEqual(second.a, first.a)
        assert.equal(second.b, first.b)
      } finally {
        squatter.close()
      }
    })

    it('are refused with the name of their setting, if a setting chose them and another process has them', async () => {
      const squatter = createServer().listen(0, '127.0.0.1')
      await once(squatter, 'listening')
      const at = { host: '127.0.0.1', port: (squatter.address() as AddressInfo).port }
      try {
        assert.equal(await isPortFree(at), false)
        await assert.rejects(requireFreePort(at, 'ROOST_API_PORT', 'the API'), (error: Error) => {
          assert.ok(error instanceof PortInUse)
          assert.match(error.message, /ROOST_API_PORT/)
          return true
        })
      } finally {
        squatter.close()
      }
    })
  })
})
