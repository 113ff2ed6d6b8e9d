import assert from 'node:assert/strict'
import { createAcmeSession, signerOf } from '../../src/acme/acme-session.ts'
import type { AcmeHttp } from '../../src/acme/acme-http.ts'
import { IssueError } from '../../src/acme/issuer.ts'
import { makeKey } from '../../src/x509/key-pair.ts'

describe('signed requests', () => {
  it('are not sent to an address without TLS if the directory has TLS', async () => {
    const sent: string[] = []
    const http: AcmeHttp = {
      authority: 'acme.example',
      directoryUrl: 'https://acme.example/directory',
      async send({ url }) {
        sent.push(url)
        const body = { newNonce: 'https://acme.example/n', newAccount: 'http://a', newOrder: 'http://o' }
        return {
          url,
          status: 200,
          body: Buffer.from(JSON.stringify(body)),
          nonce: `nonce ${sent.length}`,
          location: undefined,
          retryAfter: undefined,
        }
      },
      close: () => Promise.resolve(),
    }
    const session = createAcmeSession(http, Date.now)
    const { newAccount } = await session.directory()
    const call = session.post(
      { url: newAccount, payload: {}, what: 'x' },
      await signerOf(makeKey(), undefined),
    )
    await assert.rejects(
      call,
      (error: unknown) => error instanceof IssueError && /without TLS/.test(error.message),
    )
    assert.deepEqual(sent, ['https://acme.example/directory'])
  })
})
