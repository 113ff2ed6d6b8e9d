import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openImageArchive } from '../../../src/registry/image-archive.ts'
import { createRegistryHttp } from '../../../src/registry/registry-http.ts'
import { listRepositories, listTags } from '../../../src/registry/registry-lists.ts'
import { userTokens } from '../../../src/registry/user-tokens.ts'

const damaged = ['', '<html>', 'null', '[]', '{"tags": "all"'] as const

describe('a registry that answers with something else than JSON', () => {
  let server: Server
  let url: string
  let answer = ''
  before(async () => {
    server = createServer((_, response) => response.end(answer)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  it('is named with the list that it was asked for', async () => {
    const http = createRegistryHttp({ url, token: async () => await Promise.resolve('token') })
    for (const text of [...damaged, '{"tags": "all", "repositories": 1}']) {
      answer = text
      const corrupt = { name: 'RegistryError', failure: 'corrupt' }
      await assert.rejects(listTags(http, 'ann/web'), {
        ...corrupt,
        message: 'the registry answered /v2/ann/web/tags/list?n=100 without a list of tags',
      })
      await assert.rejects(listRepositories(http, 'ann'), {
        ...corrupt,
        message: 'the registry answered /v2/_catalog?n=100&last=ann without a list of repositories',
      })
    }
    answer = '{"name": "ann/web", "tags": null}'
    assert.deepEqual(await listTags(http, 'ann/web'), [])
  })

  it('gives no token', async () => {
    const tokens = userTokens({
      tokenUrl: `${url}/token`,
      token: Buffer.from('ann:secret').toString('base64'),
    })
    for (const text of damaged) {
      answer = text
      await assert.rejects(tokens('ann/web'), {
        name: 'RegistryError',
        message: `${url} gives no token for 'ann/web'`,
      })
    }
  })
})

describe('an archive of images', () => {
  it('whose list of images is damaged is refused, with the name of the file', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'roost-archive-'))
    try {
      for (const text of [...damaged.filter((one) => one !== '[]'), '{}']) {
        writeFileSync(path.join(directory, 'manifest.json'), text)
        await assert.rejects(openImageArchive(directory), {
          name: 'ImageArchiveError',
          message: 'manifest.json of the archive is no list of images',
        })
      }
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})
