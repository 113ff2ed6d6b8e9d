import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { createAcmeIssuer } from '../../src/acme/acme-issuer.ts'
import type { ClosableIssuer } from '../../src/acme/acme-issuer.ts'
import { IssueError } from '../../src/acme/issuer.ts'
import { createMemoryStore } from './memory-store.ts'
import { json, problem, startStubAuthority } from './stub-authority.ts'
import type { StubAuthority } from './stub-authority.ts'

const never = new AbortController().signal
const csr = Buffer.from('a request')
const names = ['www.example.test']
/** How long a silent authority is waited for. This process never stalls for so long. */
const silenceMs = 1_000

describe('what an authority answers', () => {
  let stub: StubAuthority
  let issuer: ClosableIssuer
  let store: ReturnType<typeof createMemoryStore>
  let nowMs: number
  /** The length of each wait. */
  let waits: number[]

  const open = (exchangeTimeoutMs = 30_000) => {
    const clock = {
      nowMs: () => nowMs,
      async wait(ms: number, signal: AbortSignal) {
        signal.throwIfAborted()
        waits.push(ms)
        nowMs += ms
      },
    }
    const { directoryUrl } = stub
    return createAcmeIssuer({ directoryUrl, store, clock, exchangeTimeoutMs })
  }
  beforeEach(async () => {
    nowMs = Date.parse('2030-05-01T12:00:00Z')
    waits = []
    stub = await startStubAuthority()
    store = createMemoryStore()
    issuer = open()
  })
  afterEach(async () => {
    await issuer.close()
    await stub.close()
  })

  async function failure(call: Promise<unknown>): Promise<IssueError> {
    const error = await call.then(
      () => assert.fail('it did not fail'),
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof IssueError, String(error))
    return error
  }

  describe('decides what becomes of the attempt:', () => {
    const cases: readonly (readonly [number, string, IssueError['kind']])[] = [
      [429, 'rateLimited', 'later'],
      [403, 'rateLimited', 'later'],
      [500, 'serverInternal', 'later'],
      [400, 'rejectedIdentifier', 'refused'],
      [403, 'rejectedIdentifier', 'refused'],
      [400, 'unsupportedIdentifier', 'refused'],
      [403, 'caa', 'failed'],
      [403, 'unauthorized', 'failed'],
      [400, 'malformed', 'failed'],
      [400, 'toString', 'failed'],
      [403, 'userActionRequired', 'failed'],
      [400, 'somethingNew', 'failed'],
      [429, 'somethingNew', 'later'],
      [503, 'somethingNew', 'later'],
    ]
    for (const [status, type, kind] of cases) {
      it(`${type} with ${status} is ${kind}`, async () => {
        stub.answers.set('/order', (_request, response) =>
          problem(response, status, type, 'because it is so'),
        )
        const error = await failure(issuer.open(names, {}))
        assert.equal(error.kind, kind)
        assert.match(error.message, /because it is so/)
        assert.deepEqual(error.problem, {
          type: `urn:ietf:params:acme:error:${type}`,
          detail: 'because it is so',
          status,
        })
        assert.equal(error.retryAtMs, undefined)
      })
    }

    for (const status of [400, 404, 429, 500, 502, 503, 504]) {
      it(`${status} without a problem document is ${status === 429 || status >= 500 ? 'later' : 'failed'}`, async () => {
        stub.answers.set('/order', (_request, response) => response.writeHead(status).end('<html>'))
        const { kind } = await failure(issuer.open(names, {}))
        assert.equal(kind, status === 429 || status >= 500 ? 'later' : 'failed')
      })
    }

    it('if it refuses several names, the one that is refused for good decides', async () => {
      const subproblem = (type: string, detail: string) => ({
        type: `urn:ietf:params:acme:error:${type}`,
        detail,
      })
      stub.answers.set('/order', (_request, response) =>
        json(response, 400, {
          ...subproblem('compound', 'several things'),
          subproblems: [subproblem('caa', 'not here'), subproblem('rejectedIdentifier', 'never this')],
        }),
      )
      const { kind, problem: told } = await failure(issuer.open(names, {}))
      assert.equal(kind, 'refused')
      assert.match(told?.type ?? '', /rejectedIdentifier$/)
      assert.equal(told?.detail, 'several things; not here; never this')
    })
  })

  describe('about the time of the next attempt is followed:', () => {
    const limited = (retryAfter: string) => async () => {
      stub.answers.set('/order', (_request, response) =>
        problem(response.setHeader('retry-after', retryAfter), 429, 'rateLimited', 'too many'),
      )
      return ((await failure(issuer.open(names, {}))).retryAtMs ?? NaN) - nowMs
    }
    it('as seconds', async () => assert.equal(await limited('3600')(), 3_600_000))
    it('as a date', async () => assert.equal(await limited('Wed, 01 May 2030 13:30:00 GMT')(), 5_400_000))
    it('never in the past', async () => assert.equal(await limited('Wed, 01 May 2020 13:30:00 GMT')(), 0))
    it('never in years', async () => assert.equal(await limited('9999999999')(), 30 * 86_400_000))
    it('but not if it is malformed', async () => assert.ok(Number.isNaN(await limited('soon')())))
  })

  describe('that is no answer means later:', () => {
    const later: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
      'no JSON': (response) => response.end('<html>It works!</html>'),
      'JSON of another kind': (response) => response.end('[1]'),
      'half of it': (response) => response.end('{"status":'),
      'no state': (response) => json(response, 200, { status: 'excellent' }),
      'no URL where one should be': (response) =>
        json(response, 200, { status: 'ready', authorizations: [], finalize: 'javascript:alert(1)' }),
      'a body without end': (response) => {
        const more = setInterval(() => response.write('x'.repeat(50_000)), 1)
        response.once('close', () => clearInterval(more))
      },
      'a body that drips': (response) => {
        const more = setInterval(() => response.write(' '), 20)
        response.once('close', () => clearInterval(more))
      },
      'nothing at all': () => undefined,
      'a broken connection': (response) => response.destroy(),
      'a redirect': (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    }
    for (const [what, answer] of Object.entries(later)) {
      it(what, async () => {
        await issuer.open(names, {})
        stub.answers.set('/order/1', (_request, response) => answer(response))
        const hasty = open(silenceMs)
        const { kind, retryAtMs } = await failure(hasty.find(`${stub.url}/order/1`))
        await hasty.close()
        assert.deepEqual([kind, retryAtMs], ['later', undefined])
      })
    }

    it('with the reason that it is too large, long before it is all there', async () => {
      await issuer.open(names, {})
      stub.answers.set('/order/1', (_request, response) => void response.write('x'.repeat(100_000)))
      assert.match((await failure(issuer.find(`${stub.url}/order/1`))).message, /more than 65536 bytes/)
    })

    it('no server at the address', async () => {
      await stub.close()
      const { kind, message } = await failure(issuer.open(names, {}))
      assert.equal(kind, 'later')
      assert.match(message, /can not be reached: .*ECONNREFUSED/)
      stub = await startStubAuthority()
    })

    it('a challenge whose token is a path', async () => {
      stub.answers.set('/order', (_request, response) =>
        json(response.setHeader('location', `${stub.url}/order/1`), 201, pendingOrder(stub)),
      )
      stub.answers.set('/authz/1', (_request, response) =>
        json(response, 200, authorization(stub, { token: '../../../../etc/passwd-and-more' })),
      )
      assert.equal((await failure(issuer.open(names, {}))).kind, 'later')
    })
  })

  describe('is asked for', () => {
    it('with every nonce once, and with a fresh one only if none is left', async () => {
      const fresh = () => stub.requests.filter(({ path }) => path === '/nonce').length
      const look = () => issuer.find(`${stub.url}/order/1`)
      await issuer.open(names, {})
      await look()
      assert.equal(fresh(), 0)
      await Promise.all([look(), look(), look(), look()])
      assert.equal(fresh(), 3)
      await Promise.all([look(), look(), look(), look()])
      assert.equal(fresh(), 3)
      const used = stub.requests.map(({ header }) => header['nonce']).filter((nonce) => nonce !== undefined)
      assert.equal(used.length, 11)
      assert.equal(new Set(used).size, used.length)
    })

    it('again with another nonce if one was refused, but not for ever', async () => {
      let refusals = 0
      stub.answers.set('/order', (_request, response) =>
        ++refusals <= 3 ? problem(response, 400, 'badNonce', 'not this one') : false,
      )
      assert.equal((await issuer.open(names, {})).state, 'ready')
      assert.equal(refusals, 4)
      refusals = -1_000
      assert.equal((await failure(issuer.open(names, {}))).kind, 'later')
      assert.ok(refusals < -980, String(refusals))
    })

    it('with one account for many orders at once, whose key is stored before the account is made', async () => {
      const store = createMemoryStore()
      const { directoryUrl } = stub
      stub.answers.set('/account', () => {
        assert.equal(store.records.size, 1)
        return false
      })
      const shared = createAcmeIssuer({ directoryUrl, store })
      await Promise.all(Array.from({ length: 5 }, () => shared.open(names, {})))
      assert.equal(stub.requests.filter(({ path }) => path === '/account').length, 1)
      assert.equal(store.records.get(directoryUrl)?.accountUrl, `${stub.url}/account/1`)
      await shared.close()
      const next = createAcmeIssuer({ directoryUrl, store })
      await next.open(names, {})
      await next.close()
      assert.equal(stub.requests.filter(({ path }) => path === '/account').length, 1)
    })

    it('with the same account key by two processes that ask at once', async () => {
      const store = createMemoryStore()
      const { directoryUrl } = stub
      const both = [createAcmeIssuer({ directoryUrl, store }), createAcmeIssuer({ directoryUrl, store })]
      await Promise.all(both.map((each) => each.open(names, {})))
      await Promise.all(both.map((each) => each.close()))
      const keys = stub.requests.filter(({ path }) => path === '/account').map(({ header }) => header['jwk'])
      assert.deepEqual(keys[0], keys.at(-1))
    })

    it('to check a challenge once, however long its order stays pending', async () => {
      await issuer.open(names, {})
      const states = ['pending', 'pending', 'pending', 'ready']
      stub.answers.set('/order/1', (_request, response) =>
        json(response, 200, { ...pendingOrder(stub), status: states.shift() }),
      )
      stub.answers.set('/authz/1', (_request, response) => json(response, 200, authorization(stub, {})))
      stub.answers.set('/challenge/1', (_request, response) => json(response, 200, {}))
      const order = { url: `${stub.url}/order/1`, state: 'pending', challenges: [] } as const
      await issuer.prove(order, 'http-01', never)
      assert.equal(stub.requests.filter(({ path }) => path === '/challenge/1').length, 1)
      assert.equal(states.length, 0)
    })

    it('for no proof of a kind that it does not offer', async () => {
      await issuer.open(names, {})
      stub.answers.set('/order/1', (_request, response) => json(response, 200, pendingOrder(stub)))
      stub.answers.set('/authz/1', (_request, response) => json(response, 200, authorization(stub, {})))
      const order = { url: `${stub.url}/order/1`, state: 'pending', challenges: [] } as const
      const error = await failure(issuer.prove(order, 'tls-alpn-01', never))
      assert.equal(error.kind, 'failed')
      assert.match(error.message, /does not offer tls-alpn-01 for www\.example\.test/)
    })

    it('for a bounded time, at the intervals that it names', async () => {
      await issuer.open(names, {})
      stub.answers.set('/order/1', (_request, response) =>
        json(response.setHeader('retry-after', '7'), 200, { ...pendingOrder(stub), status: 'processing' }),
      )
      const { kind, retryAtMs } = await failure(issuer.finalise(`${stub.url}/order/1`, csr, never))
      assert.equal(kind, 'later')
      assert.equal(retryAtMs, nowMs + 7_000)
      assert.deepEqual(new Set(waits), new Set([7_000]))
      assert.equal(waits.length, 17)
    })

    it('less and less often if it names no interval', async () => {
      await issuer.open(names, {})
      stub.answers.set('/order/1', (_request, response) =>
        json(response, 200, { ...pendingOrder(stub), status: 'processing' }),
      )
      await failure(issuer.finalise(`${stub.url}/order/1`, csr, never))
      assert.deepEqual(waits.slice(0, 4), [500, 750, 1_125, 1_687.5])
      assert.equal(Math.max(...waits), 10_000)
    })

    it('no more after the caller has given up, even in the middle of an answer', async () => {
      const { directoryUrl } = stub
      const patient = createAcmeIssuer({ directoryUrl, store: createMemoryStore() })
      await patient.open(names, {})
      const controller = new AbortController()
      const enough = new Error('that is enough')
      stub.answers.set('/order/1', () => controller.abort(enough))
      for (const _ of ['under way', 'before it began']) {
        const call = patient.finalise(`${stub.url}/order/1`, csr, controller.signal)
        await assert.rejects(call, (error) => error === enough)
      }
      await patient.close()
    })
  })

  describe('to a request for the certificate', () => {
    const orderIs = (states: string[]) =>
      stub.answers.set('/order/1', (_request, response) =>
        json(response, 200, {
          ...pendingOrder(stub),
          status: states.length > 1 ? states.shift() : states[0],
        }),
      )
    const finalised = () => stub.requests.filter(({ path }) => path === '/finalize/1').length
    beforeEach(() => issuer.open(names, {}))

    it('may be lost: then the order is read before the request is repeated', async () => {
      orderIs(['ready', 'valid'])
      stub.answers.set('/finalize/1', (_request, response) => response.destroy())
      const url = `${stub.url}/order/1`
      assert.equal((await failure(issuer.finalise(url, csr, never))).kind, 'later')
      await issuer.finalise(url, csr, never)
      assert.equal(finalised(), 1)
    })

    it('may be that the request came too late, which is no failure if the certificate is there', async () => {
      orderIs(['ready', 'processing', 'valid'])
      stub.answers.set('/finalize/1', (_request, response) =>
        problem(response, 403, 'orderNotReady', 'it is done'),
      )
      await issuer.finalise(`${stub.url}/order/1`, csr, never)
    })

    it('is a failure if the order stays as it was', async () => {
      orderIs(['ready'])
      stub.answers.set('/finalize/1', (_request, response) => problem(response, 400, 'badCSR', 'a weak key'))
      const error = await failure(issuer.finalise(`${stub.url}/order/1`, csr, never))
      assert.deepEqual([error.kind, finalised()], ['failed', 1])
      assert.match(error.message, /a weak key/)
    })

    it('is never asked for with an order that has no proof, or was given up', async () => {
      for (const state of ['pending', 'invalid']) {
        orderIs([state])
        stub.answers.set('/authz/1', (_request, response) => json(response, 200, authorization(stub, {})))
        assert.equal((await failure(issuer.finalise(`${stub.url}/order/1`, csr, never))).kind, 'failed')
      }
      assert.equal(finalised(), 0)
    })
  })

  describe('about an order', () => {
    it('may be that it does not exist any more; then there is no order', async () => {
      for (const [status, type] of [
        [404, 'malformed'],
        [403, 'unauthorized'],
      ] as const) {
        stub.answers.set('/order/9', (_request, response) => problem(response, status, type, 'what order?'))
        assert.equal(await issuer.find(`${stub.url}/order/9`), undefined)
      }
    })

    it('may be that the account is unknown; then the account is made again, and the order is read again', async () => {
      await issuer.open(names, {})
      let forgotten = true
      stub.answers.set('/order/1', (_request, response) =>
        forgotten ? problem(response, 400, 'accountDoesNotExist', 'who?') : false,
      )
      stub.answers.set('/account', () => (forgotten = false))
      assert.equal((await issuer.find(`${stub.url}/order/1`))?.state, 'ready')
      const made = () => stub.requests.filter(({ path }) => path === '/account').length
      assert.equal(made(), 2)
      forgotten = true
      await Promise.all(Array.from({ length: 4 }, () => issuer.find(`${stub.url}/order/1`)))
      assert.equal(made(), 3)
      forgotten = true
      stub.answers.set('/account', () => false)
      assert.equal((await failure(issuer.find(`${stub.url}/order/1`))).kind, 'failed')
    })
  })
})

function pendingOrder({ url }: StubAuthority) {
  return { status: 'pending', authorizations: [`${url}/authz/1`], finalize: `${url}/finalize/1` }
}

function authorization(
  { url }: StubAuthority,
  { token = 'a-token-of-128-bits-or-more' }: { token?: string },
) {
  return {
    status: 'pending',
    identifier: { type: 'dns', value: 'www.example.test' },
    challenges: [{ type: 'http-01', status: 'pending', url: `${url}/challenge/1`, token }],
  }
}
