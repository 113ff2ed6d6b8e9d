import assert from 'node:assert/strict'
import { TLSSocket } from 'node:tls'
import { preferredChallenge } from '../../src/domain/certificate/attempt-report.ts'
import { startPebble } from '../support/pebble.ts'
import type { Pebble } from '../support/pebble.ts'
import { challengePath, keyAuthorization, openWebScene } from './diagnosis-scene.ts'
import type { WebScene } from './diagnosis-scene.ts'

describe('a look at a name', () => {
  let pebble: Pebble
  let scene: WebScene
  let names = 0
  let name: string

  before(async () => {
    pebble = await startPebble()
  })
  after(() => pebble.stop())
  beforeEach(async () => {
    scene = await openWebScene(pebble.resolver)
    name = `n${++names}.example.test`
  })
  afterEach(() => scene.close())

  const leadTo = (...addresses: readonly string[]) => pebble.dns.setA(name, addresses)
  const redirect = (address: string, location: string, status = 302) =>
    scene.answers.set(address, (_request, response) => response.writeHead(status, { location }).end('moved'))
  const proper = (address: string) =>
    scene.answers.set(address, (request, response) => {
      response.statusCode = request.url === challengePath ? 200 : 404
      response.end(request.url === challengePath ? keyAuthorization : 'secret of the server')
    })

  describe('in DNS', () => {
    it('tells addresses and aliases', async () => {
      await pebble.dns.setA('target.example.test', ['127.0.0.2'])
      await pebble.dns.setCname(name, 'target.example.test')
      const { dns } = await scene.look(name)
      assert.deepEqual(dns.cname, ['target.example.test'])
      assert.deepEqual(dns.aaaa, { found: [] })
    })

    it('tells a server that fails', async () => {
      await pebble.dns.setServfail(name)
      const { dns, web, tls } = await scene.look(name)
      assert.equal(dns.a.failure, 'server-failed')
      assert.deepEqual([web, tls], [[], []])
    })

    it('tells that no server answers, within a bounded time', async () => {
      const silent = await openWebScene('127.0.0.1:1')
      const { dns, caa } = await silent.look(name)
      await silent.close()
      assert.deepEqual([dns.a.failure, caa.failure], ['no-answer', 'no-answer'])
    })

    it('finds the closest CAA records on the way up, and no others', async () => {
      await pebble.dns.setCaa('example.test', [{ tag: 'issue', value: 'far.example' }])
      assert.deepEqual((await scene.look(name)).caa, {
        at: 'example.test',
        records: [{ critical: false, tag: 'issue', value: 'far.example' }],
      })
      await pebble.dns.setCaa(name, [
        { tag: 'issue', value: 'near.example; account=1' },
        { tag: 'iodef', value: 'mailto:a@b.c' },
      ])
      assert.deepEqual((await scene.look(name)).caa, {
        at: name,
        records: [
          { critical: false, tag: 'issue', value: 'near.example; account=1' },
          { critical: false, tag: 'iodef', value: 'mailto:a@b.c' },
        ],
      })
      await pebble.dns.setCaa('example.test', [])
      await pebble.dns.setCaa(name, [])
      assert.deepEqual((await scene.look(name)).caa, { records: [] })
    })
  })

  describe('on the web', () => {
    it('sees the answer that an authority expects', async () => {
      await leadTo('127.0.0.2')
      proper('127.0.0.2')
      const seen = await scene.look(name)
      assert.deepEqual(seen.web, [
        { address: '127.0.0.2', scope: 'public', state: 'open', answer: 'expected' },
      ])
      assert.deepEqual(seen.tls, [{ address: '127.0.0.2', scope: 'public', state: 'open' }])
      assert.deepEqual(scene.asked, [`127.0.0.2 ${name} ${challengePath}`])
      assert.equal(preferredChallenge(seen), 'http-01')
    })

    it('takes white space behind the answer, and nothing else', async () => {
      await leadTo('127.0.0.2', '127.0.0.3')
      scene.answers.set('127.0.0.2', (_request, response) => response.end(`${keyAuthorization}\r\n`))
      scene.answers.set('127.0.0.3', (_request, response) => response.end(`${keyAuthorization}.`))
      const { web } = await scene.look(name)
      const answers = new Map(web.map((each) => [each.address, each.answer]))
      assert.deepEqual([answers.get('127.0.0.2'), answers.get('127.0.0.3')], ['expected', 'other'])
    })

    it('tells the status and the printable beginning of the answer of another server at a public address', async () => {
      await leadTo('127.0.0.2')
      scene.answers.set('127.0.0.2', (_request, response) =>
        response.writeHead(403).end(`<h1>\u001b[31mNo\u0000entry</h1>${'x'.repeat(100_000)}`),
      )
      const [web] = (await scene.look(name)).web
      assert.equal(web?.status, 403)
      assert.match(web?.excerpt ?? '', /^<h1> \[31mNo entry<\/h1>x+$/)
      assert.equal(web?.excerpt?.length, 100)
    })

    it('tells only one word about the answer at a private address, even if that may be asked', async () => {
      await leadTo('127.0.0.1')
      const bare = { address: '127.0.0.1', scope: 'internal', state: 'open' }
      scene.answers.set('127.0.0.1', (_request, response) => response.writeHead(500).end('secret'))
      assert.deepEqual((await scene.lookInside(name)).web, [{ ...bare, answer: 'other' }])
      redirect('127.0.0.1', 'http://secret.internal:99/')
      assert.deepEqual((await scene.lookInside(name)).web, [
        { ...bare, answer: 'redirect', stopped: 'other-port' },
      ])
      proper('127.0.0.1')
      assert.deepEqual((await scene.lookInside(name)).web, [{ ...bare, answer: 'expected' }])
    })

    it('does not connect to a private address unless the operator allows it', async () => {
      await leadTo('127.0.0.1', '127.0.0.2')
      proper('127.0.0.1')
      proper('127.0.0.2')
      const { web, tls } = await scene.look(name)
      const inside = { address: '127.0.0.1', scope: 'internal', state: 'not-asked' }
      for (const seen of [web, tls])
        assert.deepEqual(
          seen.find(({ address }) => address === '127.0.0.1'),
          inside,
        )
      assert.equal(web.find(({ address }) => address === '127.0.0.2')?.answer, 'expected')
      assert.deepEqual(scene.asked, [`127.0.0.2 ${name} ${challengePath}`])
    })

    it('does not connect to an address that no site can have', async () => {
      await leadTo('127.0.0.9')
      const seen = await scene.look(name)
      const notAsked = { address: '127.0.0.9', scope: 'never', state: 'not-asked' }
      assert.deepEqual([seen.web, seen.tls], [[notAsked], [notAsked]])
    })

    it('tells a closed port, and then proposes the proof by TLS where that port is open', async () => {
      await leadTo('127.0.0.5')
      const seen = await scene.look(name)
      assert.deepEqual(seen.web, [{ address: '127.0.0.5', scope: 'public', state: 'refused' }])
      assert.equal(preferredChallenge(seen), 'http-01')
      assert.equal(preferredChallenge({ ...seen, tls: [{ ...seen.tls[0]!, state: 'open' }] }), 'tls-alpn-01')
    })

    it('ends with what it has if a server is slow, never ends its answer or breaks it off', async () => {
      await leadTo('127.0.0.2', '127.0.0.3')
      scene.answers.set('127.0.0.2', (request) => void request.socket.destroy())
      scene.answers.set('127.0.0.3', (_request, response) => {
        const more = setInterval(() => response.write('x'.repeat(1_000)), 1)
        response.once('close', () => clearInterval(more))
      })
      const { web } = await scene.look(name)
      const answers = new Map(web.map((each) => [each.address, each.answer]))
      assert.deepEqual([answers.get('127.0.0.2'), answers.get('127.0.0.3')], ['none', 'other'])
    })

    it('ends with the reason of its signal, before its own time limit', async () => {
      await leadTo('127.0.0.2')
      const controller = new AbortController()
      let abortedAtMs = 0
      scene.answers.set('127.0.0.2', () => {
        abortedAtMs = performance.now()
        controller.abort(new Error('that is enough'))
      })
      await assert.rejects(scene.look(name, controller.signal), /that is enough/)
      assert.ok(performance.now() - abortedAtMs < 3_500, 'a silent server is given up after 4 s')
    })
  })

  describe('at a redirect', () => {
    it('follows to TLS by its name, whatever the certificate is, at the same address', async () => {
      await leadTo('127.0.0.2')
      const servernames: unknown[] = []
      scene.answers.set('127.0.0.2', (request, response) => {
        if (!(request.socket instanceof TLSSocket))
          return response.writeHead(301, { location: `https://${name}${request.url}` }).end()
        servernames.push((request.socket as TLSSocket & { readonly servername?: string }).servername)
        return response.end(keyAuthorization)
      })
      assert.deepEqual((await scene.look(name)).web, [
        { address: '127.0.0.2', scope: 'public', state: 'open', answer: 'expected', redirects: 1 },
      ])
      assert.deepEqual(servernames, [name])
    })

    it('follows to another public name, and tells nothing of the answer there', async () => {
      await leadTo('127.0.0.2')
      await pebble.dns.setA('other.test', ['127.0.0.3'])
      redirect('127.0.0.2', 'http://other.test/any/path')
      proper('127.0.0.3')
      assert.deepEqual((await scene.look(name)).web, [
        { address: '127.0.0.2', scope: 'public', state: 'open', answer: 'other', redirects: 1 },
      ])
      assert.deepEqual(scene.asked.at(-1), '127.0.0.3 other.test /any/path')
    })

    it('does not follow into a private network, and says so', async () => {
      await leadTo('127.0.0.2')
      await pebble.dns.setA('inside.test', ['127.0.0.1'])
      for (const location of [`http://inside.test${challengePath}`, 'http://inside.test/admin']) {
        redirect('127.0.0.2', location)
        const [web] = (await scene.look(name)).web
        assert.deepEqual([web?.answer, web?.stopped, web?.location], ['redirect', 'internal', location])
      }
      assert.deepEqual(
        scene.asked.filter((each) => each.startsWith('127.0.0.1')),
        [],
      )
    })

    it('asks a private address of the name only for the challenge, and only if that address may be asked', async () => {
      await leadTo('127.0.0.1', '127.0.0.2')
      await pebble.dns.setA('inside.test', ['127.0.0.1'])
      proper('127.0.0.1')
      redirect('127.0.0.2', 'http://inside.test/admin')
      await scene.lookInside(name)
      redirect('127.0.0.1', `http://${name}/admin`)
      await scene.lookInside(name)
      redirect('127.0.0.1', `http://${name}${challengePath}?delete=all`)
      await scene.lookInside(name)
      const inside = scene.asked.filter((each) => each.startsWith('127.0.0.1'))
      assert.deepEqual([...new Set(inside)], [`127.0.0.1 ${name} ${challengePath}`])
    })

    it('does not follow to a private address of the name itself unless the operator allows that', async () => {
      await leadTo('127.0.0.1', '127.0.0.2')
      await pebble.dns.setA('inside.test', ['127.0.0.1'])
      proper('127.0.0.1')
      redirect('127.0.0.2', `http://inside.test${challengePath}`)
      const { web } = await scene.look(name)
      assert.equal(web.find(({ address }) => address === '127.0.0.2')?.stopped, 'internal')
      assert.deepEqual(
        scene.asked.filter((each) => each.startsWith('127.0.0.1')),
        [],
      )
      const allowed = await scene.lookInside(name)
      assert.equal(allowed.web.find(({ address }) => address === '127.0.0.2')?.answer, 'expected')
    })

    it('does not follow to other ports, schemes and addresses, nor for ever', async () => {
      await leadTo('127.0.0.2')
      const stops: readonly (readonly [string, string])[] = [
        [`http://${name}:22/`, 'other-port'],
        [`http://${name}:${scene.ports.tlsPort}/`, 'other-port'],
        ['ftp://other.test/', 'other-port'],
        ['file:///etc/passwd', 'other-port'],
        ['http://127.0.0.3/', 'address'],
        ['http://[::1]/', 'address'],
        ['http://2130706435/', 'address'],
        ['http://', 'no-location'],
        ['/again', 'too-many'],
      ]
      for (const [location, stopped] of stops) {
        redirect('127.0.0.2', location)
        assert.equal((await scene.look(name)).web[0]?.stopped, stopped, location)
      }
      assert.deepEqual(
        scene.asked.filter((each) => !each.startsWith('127.0.0.2')),
        [],
      )
    })
  })
})
