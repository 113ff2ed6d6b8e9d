import { strict as assert } from 'node:assert'
import { InstanceState, instanceStates } from '../../../src/domain/instance/state.ts'
import { ServiceReach, explainService } from '../../../src/domain/service/explanation.ts'
import type { ExplainedService, ServingInstance } from '../../../src/domain/service/explanation.ts'
import { CertificateState, Handler } from '../../../src/domain/service/handler.ts'

const silentAtMs = Date.parse('2026-01-02T03:04:05Z')
const silent = { hostSilentSinceMs: silentAtMs } as const

function instance(state: InstanceState, more: Partial<ServingInstance> = {}): ServingInstance {
  return { name: state, nodeId: 'local', state, mayStandBy: false, ...more }
}

const running = instance(InstanceState.Running)
const starting = instance(InstanceState.Starting)
const asleep = instance(InstanceState.Standby, { mayStandBy: true })
const stopped = instance(InstanceState.Stopped)
const draining = instance(InstanceState.Draining)

const shop: ExplainedService = {
  name: 'shop',
  softLimit: 5,
  ports: [{ port: 443, destinationPort: 8080, handlers: [Handler.Tls, Handler.Http] }],
  domains: [{ fqdn: 'shop.metro.test' }],
  instances: [],
}

const cases: readonly [
  title: string,
  service: Partial<ExplainedService>,
  reach: ServiceReach,
  now: RegExp,
  next: RegExp,
][] = [
  [
    'a service with an awake instance answers, and wakes a sleeping one under load',
    { instances: [asleep, running, running, stopped] },
    ServiceReach.Answered,
    /^shop answers requests: 2 instances run, 1 sleeps, 1 is stopped\.$/,
    /^a sleeping instance is woken when every awake one has 5 or more in flight$/,
  ],
  [
    'awake instances that may sleep do so when nothing asks for them',
    { instances: [{ ...running, mayStandBy: true }] },
    ServiceReach.Answered,
    /^shop answers requests: 1 instance runs\.$/,
    /^its instances go to standby when nothing asks for them/,
  ],
  [
    'one awake instance that never sleeps keeps the service awake',
    { instances: [running, { ...running, mayStandBy: true }] },
    ServiceReach.Answered,
    /answers/,
    /^it goes on like this until/,
  ],
  [
    'requests wait for an instance that starts',
    { instances: [stopped, starting] },
    ServiceReach.Waits,
    /^shop lets requests wait: 1 instance starts, 1 is stopped\.$/,
    /let through as soon as an instance is up/,
  ],
  [
    'an instance that starts is asked before one that sleeps',
    { instances: [asleep, starting] },
    ServiceReach.Waits,
    /wait/,
    /up/,
  ],
  [
    'a request wakes a service whose instances sleep',
    { instances: [asleep, asleep, draining] },
    ServiceReach.Wakes,
    /^shop is asleep, and the next request wakes it: 2 instances sleep, 1 drains\.$/,
    /^that request waits until an instance is awake/,
  ],
  [
    'nobody knows what instances on silent hosts do',
    { instances: [{ ...running, ...silent }, { ...asleep, ...silent }, stopped] },
    ServiceReach.Unknown,
    /^shop may answer requests or not, because every host that could tell is silent: 1 instance runs, /,
    /^when a host is heard again/,
  ],
  [
    'an instance on a host that is heard counts before those on silent ones',
    { instances: [{ ...running, ...silent }, asleep] },
    ServiceReach.Wakes,
    /is asleep/,
    /waits/,
  ],
  [
    'a request to stopped instances is refused, and starts none',
    { instances: [stopped, draining, instance(InstanceState.Stopping)] },
    ServiceReach.Refused,
    /^shop has no instance that runs, starts or sleeps, so requests are refused with 404: 1 instance drains, 1 is stopping, 1 is stopped\.$/,
    /traffic does not start a stopped one$/,
  ],
  [
    'the first restart that is due ends the refusals',
    {
      instances: [
        { ...stopped, name: 'later', restartAtMs: silentAtMs + 1 },
        { ...stopped, name: 'sooner', restartAtMs: silentAtMs },
      ],
    },
    ServiceReach.Refused,
    /refused/,
    /^the restart policy of sooner starts it again at 2026-01-02T03:04:05\.000Z$/,
  ],
  [
    'a service without an instance refuses requests',
    {},
    ServiceReach.Refused,
    /^shop has no instance, so requests are refused with 404\.$/,
    /created with it$/,
  ],
  [
    'nothing reaches a service without a port',
    { ports: [], instances: [running] },
    ServiceReach.Refused,
    /^shop publishes no port, so nothing reaches it\.$/,
    /until a port is published/,
  ],
  [
    'nothing reaches a service without a name',
    { domains: [], instances: [running] },
    ServiceReach.Refused,
    /^shop has no name, so nothing reaches it\.$/,
    /until it gets a name/,
  ],
]

describe('the explanation of a service', () => {
  for (const [title, service, reach, now, next] of cases) {
    it(`says that ${title}`, () => {
      const explanation = explainService({ ...shop, ...service })
      assert.equal(explanation.reach, reach)
      assert.match(explanation.now, now)
      assert.match(explanation.next, next)
      assert.ok(!('failure' in explanation))
    })
  }

  it('has a word for every state of an instance, alone and beside others', () => {
    for (const state of instanceStates) {
      const instances = [instance(state)]
      const { instances: told } = explainService({ ...shop, instances })
      assert.match(String(told[0]?.does), /^[a-z ]+ on host local$/, state)
    }
  })

  it('says of an instance that its host is silent, and since when', () => {
    const { instances } = explainService({ ...shop, instances: [{ ...running, ...silent }] })
    assert.deepEqual(instances, [
      {
        name: 'running',
        does: 'runs on host local, which has been silent since 2026-01-02T03:04:05.000Z',
      },
    ])
  })

  it('says what each port does with traffic', () => {
    const ports = [
      { port: 443, destinationPort: 8080, handlers: [Handler.Tls, Handler.Http] },
      { port: 80, destinationPort: 443, handlers: [Handler.Http, Handler.Redirect] },
      { port: 5432, destinationPort: 5433, handlers: [Handler.Tls] },
    ]
    assert.deepEqual(explainService({ ...shop, ports }).ports, [
      { port: 443, does: 'HTTP over TLS, to port 8080 of its instances' },
      { port: 80, does: 'HTTP, redirected to port 443' },
      { port: 5432, does: 'TCP over TLS, to port 5433 of its instances' },
    ])
  })

  it('says of each name with which certificate it is served, and what is wrong with one that failed', () => {
    const named = (state: CertificateState) => ({
      fqdn: `${state}.example.com`,
      certificate: { name: `cert-${state}`, state },
    })
    const custom = Object.values(CertificateState).map(named)
    const { domains, failure } = explainService({ ...shop, domains: [...shop.domains, ...custom] })
    const does = new Map(domains.map((each) => [each.fqdn, each.does]))
    assert.equal(does.get('shop.metro.test'), "is served with the metro domain's certificate")
    assert.equal(does.get('valid.example.com'), 'is served with certificate cert-valid')
    assert.match(
      String(does.get('pending.example.com')),
      /no certificate yet: .* until cert-pending is issued$/,
    )
    assert.match(String(does.get('error.example.com')), /explanation of cert-error says what to do$/)
    assert.equal(failure, 'certificate cert-error could not be got for error.example.com')
  })

  it('tells the first failures of instances, and how many more there are', () => {
    const failing = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ ...stopped, name, failure: `${name} broke` }))
    const { failure } = explainService({ ...shop, instances: failing })
    assert.equal(failure, 'a: a broke; b: b broke; c: c broke; and 2 more')
    const [one] = failing
    assert.equal(explainService({ ...shop, instances: [one!] }).failure, 'a: a broke')
  })
})
