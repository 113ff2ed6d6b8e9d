import { strict as assert } from 'node:assert'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { RouteInstance, RouteLine, RouteService } from '../../src/domain/service/route-feed.ts'
import { builtInServices } from '../../src/gateway/built-in-services.ts'
import { FeedOrderError, RouteTable } from '../../src/gateway/route-table.ts'
import type { RouteChange } from '../../src/gateway/routes.ts'
import { openTableFile } from '../../src/gateway/table-file.ts'
import { until } from '../support/until.ts'

function service(uuid: string, ...fqdns: readonly string[]): RouteLine {
  const one: RouteService = {
    uuid,
    name: uuid,
    domains: fqdns.map((fqdn) => ({ fqdn })),
    ports: [{ port: 443, destinationPort: 8080, handlers: ['tls', 'http'] }],
    softLimit: 1,
    hardLimit: 100,
  }
  return { kind: 'service', service: one }
}

function instance(uuid: string, serviceUuid: string, state: RouteInstance['state'] = 'running'): RouteLine {
  return { kind: 'instance', instance: { uuid, name: uuid, serviceUuid, nodeId: 'local', state } }
}

const gone = (what: 'service' | 'instance' | 'metro', id: string): RouteLine => ({ kind: 'gone', what, id })
const node: RouteLine = { kind: 'node', node: { id: 'local', agentUrl: 'http://a', trafficSecret: 'secret' } }

let revisions = 0
function tell(table: RouteTable, lines: readonly RouteLine[], { snapshot = false } = {}): string {
  const revision = String(++revisions)
  for (const line of [{ kind: 'begin', snapshot }, ...lines, { kind: 'end', revision }] as RouteLine[]) {
    table.apply(line)
  }
  return revision
}

describe('the table of routes', () => {
  let table: RouteTable
  let changes: RouteChange[]
  beforeEach(() => {
    table = new RouteTable()
    changes = []
    table.onChange((change) => changes.push(change))
  })
  const at = (host: string) => table.serviceOf(host)?.uuid
  const membersOf = (uuid: string) => table.instancesOf(uuid).map((one) => one.uuid)

  it('finds a service by its exact name, else by the longest wildcard', () => {
    tell(table, [service('a', 'a.example'), service('b', '*.example'), service('c', '*.deep.example')])
    assert.equal(at('a.example'), 'a')
    assert.equal(at('other.example'), 'b')
    assert.equal(at('x.deep.example'), 'c')
    assert.equal(at('x.y.deep.example'), 'c')
    assert.equal(at('deep.example'), 'b')
    assert.equal(at('example'), undefined)
    assert.equal(at('a.example.org'), undefined)
    assert.equal(at(''), undefined)
    assert.equal(at('*.example'), 'b')
  })

  it('shows a block all at once, with its end', () => {
    const seen: unknown[] = []
    table.onChange(() => seen.push([at('a.example'), membersOf('a'), table.node('local')?.id]))
    table.apply({ kind: 'begin', snapshot: true })
    for (const line of [service('a', 'a.example'), instance('i', 'a'), node]) table.apply(line)
    table.apply({ kind: 'beat' })
    assert.equal(at('a.example'), undefined)
    assert.equal(table.revision, undefined)
    table.apply({ kind: 'end', revision: '5' })
    assert.equal(table.revision, '5')
    assert.deepEqual(seen, [['a', ['i'], 'local']])
  })

  it('leaves no trace of a block that was cut short', () => {
    tell(table, [service('a', 'a.example')])
    table.apply({ kind: 'begin', snapshot: true })
    table.apply(gone('service', 'a'))
    table.apply(service('half', 'half.example'))
    tell(table, [service('b', 'b.example')])
    assert.deepEqual([at('a.example'), at('half.example'), at('b.example')], ['a', undefined, 'b'])
  })

  it('drops what a snapshot leaves out, and keeps what any other block leaves out', () => {
    tell(table, [service('a', 'a.example'), service('b', 'b.example'), instance('i', 'a'), node])
    tell(table, [service('c', 'c.example')])
    assert.deepEqual([at('a.example'), at('b.example'), at('c.example')], ['a', 'b', 'c'])
    tell(table, [service('b', 'b.example')], { snapshot: true })
    assert.deepEqual([at('a.example'), at('b.example'), at('c.example')], [undefined, 'b', undefined])
    assert.deepEqual([...table.nodes()], [])
    assert.equal(table.instance('i'), undefined)
    const last = changes.at(-1)!
    assert.deepEqual([...last.services].toSorted(), ['a', 'c'])
    assert.deepEqual([...last.instances, ...last.nodes], ['i', 'local'])
  })

  it('leaves out entries of a kind that it does not know, and applies the rest of their block', () => {
    const unknown = [
      { kind: 'region', region: { id: 'r' } },
      { kind: 'toString' },
      { kind: 'gone', what: 'region', id: 'a' },
    ] as unknown as readonly RouteLine[]
    tell(table, [...unknown, service('a', 'a.example'), instance('i', 'a')])
    assert.deepEqual([at('a.example'), membersOf('a')], ['a', ['i']])
    const revision = tell(table, [service('a', 'a.example'), ...unknown, node], { snapshot: true })
    assert.deepEqual([at('a.example'), membersOf('a'), table.node('local')?.id], ['a', [], 'local'])
    assert.equal(table.revision, revision)
    assert.deepEqual(
      [...table.lines()].map(({ kind }) => kind),
      ['begin', 'node', 'service', 'end'],
    )
  })

  it('keeps the instances of a service together as they come, move and go', () => {
    tell(table, [instance('i', 'a'), instance('j', 'a'), instance('k', 'b')])
    assert.deepEqual(membersOf('a'), ['i', 'j'])
    const before = table.instancesOf('a')
    tell(table, [instance('j', 'b'), gone('instance', 'k')])
    assert.deepEqual([membersOf('a'), membersOf('b')], [['i'], ['j']])
    assert.equal(before.length, 2, 'who goes through them is not disturbed')
    tell(table, [gone('instance', 'i'), gone('instance', 'nobody')])
    assert.deepEqual(membersOf('a'), [])
    tell(table, [instance('j', 'b', 'standby')])
    assert.deepEqual(
      table.instancesOf('b').map(({ state }) => state),
      ['standby'],
    )
  })

  it('gives a name to its new service, in whichever order the two are told', () => {
    tell(table, [service('a', 'x.example')])
    tell(table, [service('b', 'x.example'), gone('service', 'a')])
    assert.equal(at('x.example'), 'b')
    tell(table, [gone('service', 'b'), service('c', 'x.example')])
    assert.equal(at('x.example'), 'c')
    tell(table, [service('c', 'y.example')])
    assert.deepEqual([at('x.example'), at('y.example')], [undefined, 'c'])
  })

  it('has the certificate of the metro domain, and tells when it is another one', () => {
    const metro = { domain: 'metro.example', chain: 'first', key: 'k' }
    tell(table, [{ kind: 'metro', metro }])
    tell(table, [{ kind: 'metro', metro }])
    tell(table, [{ kind: 'metro', metro: { ...metro, chain: 'second' } }])
    assert.equal(table.metro('metro.example')?.chain, 'second')
    assert.equal(table.metro('other.example'), undefined)
    tell(table, [gone('metro', 'metro.example')])
    assert.equal(table.metro('metro.example'), undefined)
    assert.deepEqual(
      changes.map(({ metros }) => [...metros]),
      [['metro.example'], [], ['metro.example'], ['metro.example']],
    )
  })

  it('does not count a repeated entry as a change', () => {
    tell(table, [service('a', 'a.example'), instance('i', 'a')])
    tell(table, [service('a', 'a.example'), instance('i', 'a'), gone('instance', 'nobody')])
    const last = changes.at(-1)!
    assert.deepEqual([last.services.size, last.instances.size], [0, 0])
  })

  it('serves a built-in service whatever it is told, under a name that no other service gets', () => {
    const [api] = builtInServices({
      apiUrl: 'http://127.0.0.1:7070',
      metroDomain: 'metro.example',
      registryBounded: false,
      registryOwnerPort: 7074,
    })
    assert.ok(api !== undefined)
    table = new RouteTable({ builtIn: [api.service] })
    for (const name of ['api', 'console']) assert.equal(at(`${name}.metro.example`), api.service.uuid)
    tell(table, [service('a', 'api.metro.example', 'console.metro.example', '*.metro.example')], {
      snapshot: true,
    })
    tell(table, [gone('service', 'a')])
    tell(table, [], { snapshot: true })
    for (const name of ['api', 'console']) assert.equal(at(`${name}.metro.example`), api.service.uuid)
    assert.deepEqual(
      [...table.services()].map(({ uuid }) => uuid),
      [api.service.uuid],
    )
    assert.deepEqual(
      [...table.lines()].map(({ kind }) => kind),
      ['begin', 'end'],
    )
  })

  it('leads names of the platform to the port for hosts on a machine that joined', () => {
    const services = builtInServices({
      apiUrl: 'https://192.0.2.1:7075',
      metroDomain: 'metro.example',
      registryBounded: true,
      registryOwnerPort: 7074,
      elsewhere: {
        host: '192.0.2.1',
        port: 7075,
        secure: (protocol) => () => ({ ALPNProtocols: [protocol] }),
      },
    })
    assert.deepEqual(
      services.map(({ host, port, secure, service: one }) => [
        one.domains.map(({ fqdn }) => fqdn).join(),
        host,
        port,
        secure?.().ALPNProtocols,
      ]),
      [
        ['api.metro.example,console.metro.example', '192.0.2.1', 7075, ['roost-public-api']],
        ['registry.metro.example', '192.0.2.1', 7075, ['roost-public-registry']],
      ],
    )
  })

  it('refuses entries outside a block', () => {
    assert.throws(() => table.apply(node), FeedOrderError)
    assert.throws(() => table.apply({ kind: 'end', revision: '1' }), FeedOrderError)
  })

  describe('on disk', () => {
    let directory: string
    let problems: string[]
    beforeEach(() => {
      directory = path.join(mkdtempSync(path.join(tmpdir(), 'roost-table-')), 'gateway')
      problems = []
    })
    afterEach(() => rmSync(path.dirname(directory), { recursive: true, force: true }))

    const openFile = (minIntervalMs = 1, secret = 'the token') =>
      openTableFile({ directory, secret, minIntervalMs, onProblem: (message) => problems.push(message) })
    const file = () => path.join(directory, 'routes.jsonl')
    async function write(lines: readonly RouteLine[]): Promise<string> {
      const kept = openFile(60_000)
      kept.keep(table)
      const revision = tell(table, lines)
      await kept.close()
      return revision
    }
    async function load(): Promise<RouteTable | undefined> {
      const loaded = new RouteTable()
      return (await openFile().load(loaded)) ? loaded : undefined
    }
    const all: readonly RouteLine[] = [
      node,
      {
        kind: 'certificate',
        certificate: { uuid: 'k', commonName: 'x', state: 'valid', chain: 'c', key: 'the private key, ü' },
      },
      { kind: 'metro', metro: { domain: 'metro.example', chain: 'c', key: 'the private key of all names' } },
      service('a', 'a.example', '*.b.example'),
      ...Array.from({ length: 1_200 }, (_, index) => instance(`i${index}`, 'a')),
    ]

    it('is loaded as it was written, with the revision from which the feed goes on', async () => {
      const revision = await write(all)
      const loaded = await load()
      assert.equal(loaded?.revision, revision)
      assert.deepEqual([...loaded.lines()], [...table.lines()])
      assert.equal(loaded.serviceOf('z.b.example')?.uuid, 'a')
      assert.equal(loaded.instancesOf('a').length, 1_200)
      assert.deepEqual(problems, [])
    })

    it('is loaded with the rollouts and the instances of their new versions', async () => {
      const rollout = { uuid: 'r', percent: 5, held: true }
      const withRollout: RouteLine[] = [service('a', 'a.example'), instance('next', 'a')].map((line) => {
        if (line.kind === 'service') return { ...line, service: { ...line.service, rollout } }
        return line.kind === 'instance' ? { ...line, instance: { ...line.instance, isNext: true } } : line
      })
      await write([node, ...withRollout])
      const loaded = await load()
      assert.deepEqual(loaded?.service('a')?.rollout, rollout)
      assert.equal(loaded.instance('next')?.isNext, true)
      assert.equal(loaded.hasRollout('r'), true)
      tell(loaded, [service('a', 'a.example')])
      assert.equal(loaded.hasRollout('r'), false)
    })

    it('can be read by its owner alone: it holds keys', async () => {
      await write(all)
      assert.deepEqual(readdirSync(directory), ['routes.jsonl'])
      assert.equal(statSync(file()).mode & 0o777, 0o600)
      assert.equal(statSync(directory).mode & 0o777, 0o700)
    })

    it('holds no key and no secret in clear, and can not be opened with another token', async () => {
      await write(all)
      const text = readFileSync(file(), 'utf8')
      assert.match(text, /a\.example/)
      assert.doesNotMatch(text, /private key|"trafficSecret"/)
      const loaded = new RouteTable()
      assert.equal(await openFile(1, 'another token').load(loaded), false)
      assert.match(problems[0] ?? '', /can not be used/)
    })

    it('is gone, and is not written again, once it was removed', async () => {
      const kept = openFile()
      kept.keep(table)
      tell(table, all)
      await until('it is written', async () => (await load()) !== undefined, { limitMs: 20_000 })
      tell(table, [service('b', 'b.example')])
      await kept.remove()
      tell(table, [service('c', 'c.example')])
      await kept.close()
      assert.deepEqual(readdirSync(directory), [])
    })

    it('follows changes while they come, without waiting for the end', async () => {
      const kept = openFile()
      kept.keep(table)
      tell(table, [service('a', 'a.example')])
      await until('the first', async () => (await load())?.serviceOf('a.example'), { limitMs: 20_000 })
      tell(table, [gone('service', 'a')])
      await until('the second', async () => (await load())?.service('a') === undefined, { limitMs: 20_000 })
      await kept.close()
    })

    it('counts as missing, without a report, if there is no file', async () => {
      assert.equal(await load(), undefined)
      assert.deepEqual(problems, [])
    })

    it('counts as missing wherever its file was cut, with a report', async () => {
      await write(all.slice(0, 4))
      const whole = readFileSync(file())
      for (let length = 0; length < whole.length; length += 7) {
        writeFileSync(file(), whole.subarray(0, length))
        assert.equal(await load(), undefined, `${length} bytes`)
      }
      assert.match(problems[0] ?? '', /can not be used/)
    })

    it('counts as missing if a single byte was changed', async () => {
      await write(all.slice(0, 4))
      const whole = readFileSync(file())
      for (let index = 0; index < whole.length; index += 5) {
        const damaged = Buffer.from(whole)
        damaged[index] = (damaged[index] ?? 0) ^ 1
        writeFileSync(file(), damaged)
        assert.equal(await load(), undefined, `byte ${index}`)
      }
    })

    it('leaves the table in memory as it was if its file can not be used', async () => {
      await write(all)
      writeFileSync(file(), 'nonsense')
      const loaded = new RouteTable()
      assert.equal(await openFile().load(loaded), false)
      assert.equal(loaded.revision, undefined)
      assert.deepEqual([...loaded.services()], [])
    })

    it('leads to a report if the directory can not be written', async () => {
      writeFileSync(directory, 'a file is in the way')
      await write(all)
      assert.match(problems[0] ?? '', /can not be written/)
    })
  })
})
