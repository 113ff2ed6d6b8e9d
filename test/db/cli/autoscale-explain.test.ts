import { strict as assert } from 'node:assert'
import type { AutoscaleFacts } from '../../../src/explain/autoscale/facts.ts'
import type { CliDeps } from '../../../src/cli/cli-deps.ts'
import { runCli } from '../../../src/cli/program.ts'
import type { SeenAutoscale } from '../../../src/control/autoscale-control.ts'
import { ControlUnavailable } from '../../../src/control/control-unavailable.ts'
import { AutoscalePhase } from '../../../src/domain/autoscale/life.ts'
import type { AutoscalePolicy } from '../../../src/domain/autoscale/policy.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { autoscaleRows, resize } from '../../support/autoscale-rows.ts'

const policies: readonly AutoscalePolicy[] = [
  {
    name: 'up',
    metric: 'cpu',
    adjustmentType: 'change',
    steps: [
      { upperBound: 200, adjustment: -1 },
      { lowerBound: 200, upperBound: 800, adjustment: 0 },
      { lowerBound: 800, adjustment: 2 },
    ],
  },
  {
    name: 'half',
    metric: 'in_flight',
    adjustmentType: 'percent',
    steps: [{ lowerBound: 5, adjustment: 50 }],
  },
  { name: 'all', metric: 'in_flight', adjustmentType: 'exact', steps: [{ lowerBound: 90, adjustment: 8 }] },
]
/** The time of a view, an hour ahead, so that the view counts as recent however long a test takes. */
const fresh = Date.now() + 3_600_000
const watching = { phase: AutoscalePhase.Watching, failures: 0, target: 3 } as const

describe('the roost command that explains how a service is scaled', () => {
  const rows = autoscaleRows()
  const { newUser, scaled, align, grown, clones, tell, unconfigure } = rows
  let seen: SeenAutoscale | undefined
  let seenFails: Error | undefined
  let asked: string[] = []
  let users = 0
  beforeEach(() => {
    seen = undefined
    seenFails = undefined
    asked = []
  })

  async function roost(...args: readonly string[]) {
    let out = ''
    let notes = ''
    const deps: CliDeps = {
      write: (text) => void (out += text),
      note: (text) => void (notes += text),
      withDatabase: (work) => work(rows.database()),
      withControl: (work) =>
        work({
          autoscales: {
            async seen(serviceUuid) {
              asked.push(serviceUuid)
              if (seenFails !== undefined) throw seenFails
              return seen
            },
          },
          instances: { drainUntilMs: () => assert.fail(), hostGone: () => assert.fail() },
          certificates: { retry: () => assert.fail() },
          volumes: { repair: () => assert.fail(), hostGone: () => assert.fail() },
        }),
      readHostLease: () => assert.fail(),
      images: { store: () => assert.fail() },
      doctor: () => assert.fail(),
      platform: { dataDir: '/nowhere', halt: () => assert.fail() },
      domainProof: { isAsked: false, tokens: () => assert.fail(), textsOf: () => assert.fail() },
      authority: { file: undefined, metroDomain: 'roost.localhost', customDomains: () => assert.fail() },
    }
    const code = await runCli(['autoscale', 'explain', ...args], deps)
    return { code, out, notes }
  }
  const named = async (wishes: Parameters<typeof scaled>[1] = {}, name = `shop-${users++}`) => {
    const user = await newUser()
    const service = await scaled(user, { policies, ...wishes }, { name })
    await rows.db().updateTable('services').set({ name }).where('uuid', '=', service.uuid).execute()
    return { ...service, name, user }
  }

  it('tells configuration, members, measures, what was done and what comes next', async () => {
    const service = await named({ minSize: 1, maxSize: 5, warmupMs: 2_000 })
    await align(service, 3, { cause: resize })
    const [runs, starts] = await clones(service)
    await rows.runs(runs!)
    const atMs = Date.now()
    seen = {
      life: watching,
      view: {
        atMs,
        size: 3,
        target: 3,
        metrics: { cpu: 640.4, in_flight: 2.25, requests_per_second: 12 },
        loads: { [service.master.name]: { cpu: 700, in_flight: 3, requests_per_second: 14.04 } },
        rest: { kind: 'warming', names: [starts!.name] },
      },
    }
    for (const wanted of [service.name, service.name.toUpperCase(), service.uuid]) {
      const { code, out, notes } = await roost(wanted)
      assert.deepEqual([code, notes, asked.at(-1)], [0, '', service.uuid])
      const lines = out.split('\n')
      assert.equal(lines[0], `${service.name} waits for ${starts!.name} to start and to warm up`)
      assert.match(String(lines[1]), /^next: more are added only if /)
      assert.ok(lines.includes('size 3, 3 wanted, from 1 to 5; warm-up 2000 ms, cooldown 7000 ms'))
      for (const line of [
        'policy up, by cpu:',
        '  - upper bound 200 exclusive: -1',
        '  - lower bound 200 inclusive, upper bound 800 exclusive: 0',
        '  - lower bound 800 inclusive: +2',
        '  - lower bound 5 inclusive: +50 %',
        '  - lower bound 90 inclusive: 8 in all',
        `measured at ${new Date(atMs).toISOString()}:`,
        '  - 640 millicores per instance',
      ])
        assert.ok(lines.includes(line), `${line}\n\nin\n${out}`)
      assert.match(out, /\nNAME +UUID +HOST +STATE +COUNTS AS +MILLICORES +IN FLIGHT +REQ\/S +WHY\n/)
      assert.match(
        out,
        new RegExp(
          `\\n${service.master.name} +\\S+ +local +running +counted \\(master\\) +700 +3\\.0 +14\\.0 +-\\n`,
        ),
      )
      assert.match(out, new RegExp(`\\n${starts!.name} +\\S+ +local +starting +warming +- +- +- +-\\n`))
      assert.match(
        out,
        /\nlately:\n {2}- \S+Z Went from 1 to 3, added \S+ and \S+: policy up wants 3, because /,
      )
    }
    const facts = JSON.parse((await roost(service.uuid, '--json')).out) as AutoscaleFacts
    assert.partialDeepStrictEqual(facts, {
      serviceUuid: service.uuid,
      size: 3,
      target: 3,
      configuration: { minSize: 1, maxSize: 5, policies },
      view: { atMs },
    })
    assert.deepEqual(facts.leaving, [])
    assert.deepEqual(
      facts.members.map(({ name, standing }) => [name, standing]),
      [
        [service.master.name, 'counted'],
        [runs!.name, 'counted'],
        [starts!.name, 'warming'],
      ],
    )
  })

  it('tells why nothing can be added, and since when it is tried', async () => {
    const service = await named()
    const blockedUntilMs = Date.now() + 40_000
    const until = new Date(blockedUntilMs).toISOString()
    const trouble = "quota 'instances' exceeded: 3 with one more, 2 allowed"
    const life = { ...watching, failures: 3, trouble, blockedUntilMs }
    seen = { life, view: { atMs: Date.now(), rest: { kind: 'blocked', untilMs: blockedUntilMs } } }
    const { out } = await roost(service.name)
    assert.ok(out.includes(`next: at ${until} it is tried again`), out)
    assert.ok(
      out.includes(`\nwhat failed: ${trouble} (3 times in a row), nothing is added before ${until}\n`),
      out,
    )
  })

  it('tells what is under way and keeps failing', async () => {
    const service = await named()
    const cause = { kind: 'align', target: 4, size: 1 } as const
    seen = {
      life: { ...watching, phase: AutoscalePhase.Aligning, cause },
      broken: { attempt: 6, message: "'align' broke off; the worker's log says why" },
    }
    const { out } = await roost(service.name)
    assert.match(out, new RegExp(`^${service.name} goes from 1 to 4: `))
    assert.match(out, /\nwhat failed: attempt 6: 'align' broke off; /)
  })

  it('tells of clones that failed, and of those that leave', async () => {
    const service = await named()
    const [stopped, leaving] = await grown(service, 2)
    await align(service, 2)
    await tell(stopped!, InstanceState.Stopped, { failure: 'the host is full' })
    const { out } = await roost(service.name)
    assert.match(
      out,
      new RegExp(`\\n${stopped!.name} +\\S+ +local +stopped +failed .*it did not start: the host is full\\n`),
    )
    assert.ok(out.includes(`\ngiven back, and leaving: ${leaving!.name}\n`), out)
  })

  for (const [what, sight, sentence] of [
    ['nobody watches it', undefined, /^\S+ is not watched: no workflow runs\nnext: a sweep /],
    ['nothing was seen yet', { life: watching }, /^\S+ is being watched, and nothing was seen yet\n/],
    [
      'the watch can not see',
      { life: watching, view: { atMs: 0, trouble: 'the database does not answer' } },
      /^\S+ can not be looked at since 1970-\S+: the database does not answer\n/,
    ],
    [
      'its watch is gone',
      { life: watching, view: { atMs: 0, rest: { kind: 'no-policy' } } },
      /^\S+ was seen last at 1970-\S+\nnext: another control worker /,
    ],
    ['it is about to change', { life: watching, view: { atMs: fresh } }, /^\S+ is about to change\n/],
  ] as const)
    it(`says so where ${what}`, async () => {
      const service = await named()
      seen = sight
      assert.match((await roost(service.name)).out, sentence)
    })

  it('tells what is recorded where the control plane does not answer', async () => {
    const service = await named()
    await align(service, 2)
    seenFails = new ControlUnavailable('nobody answers')
    const { code, out, notes } = await roost(service.name)
    assert.deepEqual([code, notes], [0, 'the control plane does not answer; this is what is recorded:\n'])
    assert.match(out, /\nsize 2, 2 wanted, from 1 to 8;/)
  })

  it('says that a service is not configured, and what is left of one that is being closed', async () => {
    const plain = await named()
    await rows.db().deleteFrom('autoscaleConfigurations').where('serviceUuid', '=', plain.uuid).execute()
    const { out } = await roost(plain.name)
    assert.match(out, /^\S+ is not configured to be scaled\nnext: nothing, until it is: POST /)
    assert.deepEqual(asked, [])
    const closed = await named()
    await grown(closed, 2)
    await align(closed, 1)
    await unconfigure(closed)
    const text = (await roost(closed.name)).out
    assert.match(text, /^\S+ is not configured any more: 2 clones are leaving\n/)
    assert.doesNotMatch(text, /wanted/)
  })

  it('refuses a service that does not exist, and asks for the user if several have it', async () => {
    const nobody = await roost('no-such-service')
    assert.deepEqual([nobody.code, nobody.notes], [1, "roost: there is no service 'no-such-service'\n"])
    const [one, other] = [await named({}, 'twin'), await named({}, 'twin')]
    const { code, notes } = await roost('twin')
    assert.equal(code, 1)
    assert.match(notes, /several users have a service 'twin': \S+, \S+; name one with --user/)
    for (const { user, uuid } of [one, other]) {
      const facts = JSON.parse((await roost('twin', '--user', user.name, '--json')).out) as AutoscaleFacts
      assert.equal(facts.serviceUuid, uuid)
    }
  })
})
