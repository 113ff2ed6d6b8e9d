import assert from 'node:assert/strict'
import { OwnEndpoint } from '../../../src/host/mesh/own-endpoint.ts'
import type { OwnEndpointOptions } from '../../../src/host/mesh/own-endpoint.ts'

describe('the endpoint of a machine in the mesh', () => {
  let said: string[]
  let asked: string[]
  const tell = (level: string) => (_fields: object, message: string) => void said.push(`${level}: ${message}`)

  beforeEach(() => {
    said = []
    asked = []
  })

  /** An endpoint whose look-ups end with these answers, one after the other. */
  const endpoint = (answers: readonly (string | Error)[], options: Partial<OwnEndpointOptions> = {}) =>
    new OwnEndpoint({
      host: 'roost.example.com',
      port: 51_820,
      lookUp: async (name) => {
        const answer = answers[asked.push(name) - 1]
        if (answer === undefined) return await new Promise<string>(() => undefined)
        if (answer instanceof Error) throw answer
        return answer
      },
      log: { info: tell('info'), warn: tell('warn'), error: tell('error') },
      ...options,
    })
  const gone = new Error('getaddrinfo ENOTFOUND')

  it('is known at once if the machine is named by an address', async () => {
    for (const [host, expected] of [
      ['192.0.2.1', '192.0.2.1:51820'],
      ['2001:db8::1', '[2001:db8::1]:51820'],
    ] as const) {
      const own = endpoint([], { host })
      assert.equal(own.current, expected)
      await own.look()
    }
    assert.deepEqual([asked, said], [[], []])
  })

  it('is looked up once if that succeeds', async () => {
    const own = endpoint(['192.0.2.7'])
    await own.look()
    await own.look()
    assert.equal(own.current, '192.0.2.7:51820')
    assert.deepEqual([asked, said], [['roost.example.com'], []])
  })

  it('is tried again while the name leads nowhere, which is said once', async () => {
    const own = endpoint([gone, gone, '2001:db8::7'])
    for (const expected of [undefined, undefined, '[2001:db8::7]:51820']) {
      await own.look()
      assert.equal(own.current, expected)
    }
    assert.equal(said.length, 2)
    assert.match(
      said[0]!,
      /^warn: the name of this machine, roost.example.com, could not be looked up, .* tried again$/,
    )
    assert.match(said[1]!, /^info: /)
  })

  it('stays what it was before the start until the name is found, if the port is the same', async () => {
    const own = endpoint([gone, '192.0.2.8'], { before: '192.0.2.7:51820' })
    await own.look()
    assert.equal(own.current, '192.0.2.7:51820')
    await own.look()
    assert.equal(own.current, '192.0.2.8:51820')
    assert.equal(endpoint([], { before: '192.0.2.7:51821' }).current, undefined)
  })

  it('is not waited for if nobody answers', async () => {
    const own = endpoint([], { lookUpMs: 20 })
    await own.look()
    assert.equal(own.current, undefined)
    assert.equal(said.length, 1)
  })
})
