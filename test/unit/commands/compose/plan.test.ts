import assert from 'node:assert/strict'
import fc from 'fast-check'
import { isOfLaunch } from '../../../../src/commands/compose/differences.ts'
import { planOf, planOfEnd } from '../../../../src/commands/compose/plan.ts'
import type { Step } from '../../../../src/commands/compose/plan.ts'
import { planText } from '../../../../src/commands/compose/plan-text.ts'
import { objectName } from '../../../../src/commands/compose/project.ts'
import type {
  Actual,
  Configuration,
  Desired,
  DesiredService,
} from '../../../../src/commands/compose/states.ts'
import { applied, nothing } from './applied.ts'

const project = 'shop'
const place = { file: 'compose.yaml', line: 1 }
const removing = { removesOrphans: true }

const configuration: Configuration = {
  image: 'app@sha256:1',
  env: {},
  memoryMb: 128,
  vcpus: 1,
  restart: 'never',
  sleep: { policy: 'off', stateful: false, cooldownMs: 1_000 },
  tags: ['compose:shop'],
}
const plain = { ...place, configuration, replicas: 1, ports: [], rollout: {}, dependsOn: [] }

const variables: readonly Configuration['env'][] = [{}, { A: '1' }, { A: '2', B: '' }]

const anyConfiguration: fc.Arbitrary<Configuration> = fc
  .record({
    image: fc.constantFrom('app@sha256:1', 'app@sha256:2'),
    args: fc.option(fc.constantFrom(['a'], ['a', 'b']), { nil: undefined }),
    env: fc.constantFrom(...variables),
    memoryMb: fc.constantFrom(128, 256),
    restart: fc.constantFrom('never', 'always'),
    policy: fc.constantFrom('off', 'on'),
  })
  .map(({ args, policy, ...one }) => ({
    ...configuration,
    ...one,
    ...(args && { args }),
    sleep: { ...configuration.sleep, policy },
  }))

const keys = ['a', 'b', 'c', 'd'] as const

/** Services of which each may depend on those before it. Volumes go from one service to another. */
const anyDesired: fc.Arbitrary<Desired> = fc
  .tuple(
    fc.nat({ max: keys.length - 1 }),
    ...keys.map((_, index) =>
      fc.record({
        isThere: fc.boolean(),
        configuration: anyConfiguration,
        replicas: fc.integer({ min: 0, max: 3 }),
        dependsOn: fc.subarray(keys.slice(0, index)),
        condition: fc.constantFrom('service_started', 'service_healthy', 'service_completed_successfully'),
        isPublic: fc.boolean(),
        port: fc.constantFrom(80, 443),
        extra: fc.constantFrom('nothing', 'volume', 'autoscale'),
        at: fc.constantFrom('/data', '/var'),
      }),
    ),
  )
  .map(([shift, ...services]) => {
    const volumeOf = (key: string) =>
      `${keys[(keys.findIndex((one) => one === key) + shift) % keys.length]}.shop`
    const present = services
      .map((one, index) => ({ ...one, key: keys[index]! }))
      .filter(({ isThere }) => isThere)
    const known = present.map(({ key }) => key)
    return {
      project,
      volumes: present
        .filter(({ extra }) => extra === 'volume')
        .map(({ key }) => ({ ...place, name: volumeOf(key), sizeMb: 64, isExternal: false })),
      services: present.map(
        ({ key, configuration, replicas, dependsOn, condition, isPublic, port, extra, at }) => ({
          ...place,
          key,
          configuration,
          rollout: {},
          replicas: extra === 'nothing' ? replicas : 1,
          ports: isPublic || extra === 'autoscale' ? [{ port, destinationPort: 8080 }] : [],
          dependsOn: dependsOn
            .filter((other) => known.includes(other))
            .map((service) => ({ ...place, service, condition, isRequired: true })),
          ...(extra === 'volume' && { mount: { ...place, volume: volumeOf(key), at, readonly: false } }),
          ...(extra === 'autoscale' && {
            autoscale: { min: 1, max: port === 80 ? 2 : 3, metric: 'cpu' as const, target: 500 },
          }),
        }),
      ),
    }
  })

const shape = (actual: Actual) => ({
  instances: actual.instances
    .map(({ name, configuration, mount, service }) => JSON.stringify([name, configuration, mount, service]))
    .toSorted(),
  services: actual.services
    .map(({ name, ports, autoscale }) => JSON.stringify([name, ports, autoscale]))
    .toSorted(),
})

/** What the platform has once some instances have stopped, and others sleep. */
const anyStates = fc.array(fc.constantFrom('running', 'standby', 'stopped', 'stopping'), { minLength: 1 })

function inStates(actual: Actual, states: readonly string[]): Actual {
  const instances = actual.instances.map((one, index) => ({ ...one, state: states[index % states.length]! }))
  return { ...actual, instances }
}

describe('the plan of a project', () => {
  it('makes of anything what the file says, and is empty then', () => {
    fc.assert(
      fc.property(anyDesired, anyDesired, anyStates, (before, desired, states) => {
        const had = inStates(applied(nothing, planOf(before, nothing, removing).steps), states)
        const has = applied(had, planOf(desired, had, removing).steps)
        const fresh = applied(nothing, planOf(desired, nothing, removing).steps)
        assert.deepEqual(shape(has), shape(fresh))
        assert.deepEqual(planOf(desired, has, removing).steps, [])
      }),
    )
  })

  it('goes on after any of its steps as if nothing had happened', () => {
    fc.assert(
      fc.property(anyDesired, anyDesired, anyStates, fc.nat(), (before, desired, states, random) => {
        const had = inStates(applied(nothing, planOf(before, nothing, removing).steps), states)
        const { steps } = planOf(desired, had, removing)
        const part = applied(had, steps.slice(0, random % (steps.length + 1)))
        const whole = applied(part, planOf(desired, part, removing).steps)
        assert.deepEqual(shape(whole), shape(applied(had, steps)))
      }),
    )
  })

  it('touches no instance of a service before all on which it depends are done', () => {
    fc.assert(
      fc.property(anyDesired, anyDesired, (before, desired) => {
        const had = applied(nothing, planOf(before, nothing, removing).steps)
        const { steps } = planOf(desired, had, removing)
        const places = (key: string) =>
          steps.flatMap((step, index) =>
            /^((create|replace|change|start)-instance|roll-out)$/.test(step.kind) && belongs(step, key)
              ? index
              : [],
          )
        for (const { key, dependsOn } of desired.services) {
          const first = Math.min(...places(key))
          for (const { service } of dependsOn) {
            assert.ok(Math.max(...places(service)) < first, planText({ steps, orphans: [] }))
          }
        }
      }),
    )
  })

  it('restarts no instance of a service that serves, and rolls each service out once at most', () => {
    fc.assert(
      fc.property(anyDesired, anyDesired, anyStates, (before, desired, states) => {
        const had = inStates(applied(nothing, planOf(before, nothing, removing).steps), states)
        const { steps } = planOf(desired, had, removing)
        for (const step of steps) {
          if (step.kind !== 'change-instance' || step.isStopped) continue
          const { service } = had.instances.find(({ name }) => name === step.name) ?? {}
          const text = planText({ steps, orphans: [] })
          assert.ok(service === undefined || !step.differences.some(isOfLaunch), text)
        }
        const rolled = steps.flatMap((step) => (step.kind === 'roll-out' ? [step.name] : []))
        assert.equal(new Set(rolled).size, rolled.length)
      }),
    )
  })

  it('takes everything away at the end, dependents first, and volumes only if they are named', () => {
    fc.assert(
      fc.property(anyDesired, (desired) => {
        const has = applied(nothing, planOf(desired, nothing, removing).steps)
        const order = desired.services.map(({ key }) => objectName(key, project))
        const steps = planOfEnd(has, { order, volumes: [] })
        const left = applied(has, steps)
        assert.deepEqual(left, { ...nothing, volumes: has.volumes })
        const volumes = has.volumes.map(({ name }) => name)
        assert.deepEqual(applied(has, planOfEnd(has, { order, volumes })), nothing)
        const deleted = steps.filter(({ kind }) => kind === 'delete-instance')
        const ranks = deleted.map((step) => order.findIndex((name) => belongsTo(step, name)))
        assert.deepEqual(
          ranks,
          ranks.toSorted((a, b) => b - a),
        )
      }),
    )
  })

  const service = (key: string, more: Partial<DesiredService> = {}): DesiredService => ({
    ...plain,
    key,
    ...more,
  })
  const desired = (...services: readonly DesiredService[]): Desired => ({ project, services, volumes: [] })
  const plan = (wanted: Desired, actual: Actual = nothing) =>
    planText(planOf(wanted, actual, { removesOrphans: false }))
  const made = (wanted: Desired) => applied(nothing, planOf(wanted, nothing, removing).steps)
  const stopped = (actual: Actual, exitCode: number): Actual => ({
    ...actual,
    instances: actual.instances.map((one) => ({ ...one, state: 'stopped', exitCode })),
  })

  it('starts what is stopped, but not what has completed and is waited for', () => {
    const job = service('job')
    const waiting = {
      ...place,
      service: 'job',
      condition: 'service_completed_successfully' as const,
      isRequired: true,
    }
    const web = service('web', { dependsOn: [waiting] })
    const both = desired(job, web)
    const has = made(both)
    const jobDone = {
      ...has,
      instances: stopped(has, 0).instances.map((one) =>
        one.name === 'job.shop' ? one : { ...one, state: 'running' },
      ),
    }
    assert.equal(plan(both, jobDone), '')
    assert.equal(plan(desired(job), stopped(made(desired(job)), 0)), '  ~ instance job.shop: is started')
    const failed = {
      ...jobDone,
      instances: jobDone.instances.map((one) => (one.name === 'job.shop' ? { ...one, exitCode: 1 } : one)),
    }
    assert.equal(plan(both, failed), '  ~ instance job.shop: is started')
  })

  const page = (more: Partial<DesiredService> = {}) =>
    service('page', { ports: [{ port: 443, destinationPort: 8080 }], ...more })
  const bigger = { ...configuration, memoryMb: 256, tags: [...configuration.tags, 'new'] }
  const lines = (text: string) => text.split('\n').map((line) => line.trim())

  it('rolls out replicas together: those too many go before, those missing come after', () => {
    const three = made(desired(page({ replicas: 3 })))
    assert.deepEqual(lines(plan(desired(page({ replicas: 2, configuration: bigger })), three)), [
      '- instance page-3.page.shop',
      '~ service page.shop: memory_mb; it is rolled out, and requests go on meanwhile',
      '~ instance page.shop: tags',
      '~ instance page-2.page.shop: tags',
    ])
    const one = made(desired(page()))
    assert.deepEqual(lines(plan(desired(page({ replicas: 2, configuration: bigger })), one)), [
      '~ service page.shop: memory_mb; it is rolled out, and requests go on meanwhile',
      '~ instance page.shop: tags',
      '+ instance page-2.page.shop: app@sha256:1, 256 MiB, 1 processor',
    ])
  })

  it('rolls out before it changes the scale, so that the load has its clones until then', () => {
    const scale = { min: 1, max: 2, metric: 'cpu' as const, target: 500 }
    const scaled = made(desired(page({ autoscale: scale })))
    const text = plan(desired(page({ autoscale: { ...scale, max: 3 }, configuration: bigger })), scaled)
    assert.deepEqual(lines(text), [
      '~ service page.shop: memory_mb; it is rolled out, and requests go on meanwhile',
      '~ service page.shop: is not scaled any more',
      '~ instance page.shop: tags',
      '~ service page.shop: 1 to 3 instances by cpu',
    ])
    const same = plan(
      desired(page({ autoscale: scale, configuration: { ...configuration, vcpus: 2 } })),
      scaled,
    )
    assert.equal(same, '  ~ service page.shop: vcpus; it is rolled out, and requests go on meanwhile')
  })

  it('says that requests wait where a volume goes from the old version to the new one', () => {
    const mount = { ...place, volume: 'data.shop', at: '/data', readonly: false }
    const volumes = [{ ...place, name: 'data.shop', sizeMb: 64, isExternal: false }]
    const has = made({ ...desired(page({ mount })), volumes })
    const wanted = { ...desired(page({ mount, configuration: { ...configuration, vcpus: 2 } })), volumes }
    assert.equal(
      plan(wanted, has),
      '  ~ service page.shop: vcpus; it is rolled out, and requests wait while it gets the volume',
    )
  })

  it('rolls nothing out while a rollout is under way, and deletes what rollouts of ended services keep', () => {
    const has = made(desired(page(), service('old')))
    const inRollouts = [{ name: 'page.shop-ab12c', isNew: true, service: 'page.shop' }]
    const { refusals } = planOf(desired(page()), { ...has, inRollouts }, removing)
    assert.match(refusals[0]?.text ?? '', /^a rollout of the service page\.shop is under way: wait until/)
    const kept = [{ name: 'page.shop-ab12c', isNew: false, service: 'page.shop' }]
    assert.deepEqual(planOf(desired(page(), service('old')), { ...has, inRollouts: kept }, removing), {
      steps: [],
      refusals: [],
      orphans: [],
    })
    const ended = planOf(desired(service('old')), { ...has, inRollouts: kept }, removing)
    assert.deepEqual(lines(planText(ended)), [
      '- instance page.shop-ab12c',
      '- instance page.shop',
      '- service page.shop',
    ])
    const alone = [{ name: 'gone.shop-ab12c', isNew: false }]
    assert.match(
      plan(desired(page(), service('old')), { ...has, inRollouts: alone }),
      /kept: gone\.shop-ab12c;/,
    )
    const removed = planOf(desired(page(), service('old')), { ...has, inRollouts: alone }, removing)
    assert.equal(planText(removed), '  - instance gone.shop-ab12c')
  })

  it('names the variables that differ by nothing but the word env', () => {
    const secret = { ...configuration, env: { PASSWORD: 'of nobody' } }
    const text = plan(desired(service('web', { configuration: secret })), made(desired(service('web'))))
    assert.equal(text, '  ~ instance web.shop: env; it is restarted, and requests wait meanwhile')
  })

  it('tells of what stays although the file does not have it', () => {
    const has = made(desired(service('web'), service('old')))
    assert.match(plan(desired(service('web')), has), /kept: old\.shop; --remove-orphans/)
  })

  it('refuses volumes of another size, external ones that are not there, and names that are taken', () => {
    const volume = { ...place, name: 'data.shop', sizeMb: 64, isExternal: false }
    const wanted = {
      ...desired(service('web')),
      volumes: [volume, { ...volume, name: 'given', isExternal: true }],
    }
    const actual = { ...nothing, volumes: [{ name: 'data.shop', sizeMb: 128 }], foreign: ['web.shop'] }
    const texts = planOf(wanted, actual, removing).refusals.map(({ text }) => text)
    assert.equal(texts.length, 3)
    assert.match(texts[0] ?? '', /web\.shop exists and is not of this project/)
    assert.match(texts[1] ?? '', /has 128 MiB, and the size of a volume can not be changed to 64 MiB/)
    assert.match(texts[2] ?? '', /given is external and does not exist/)
  })
})

function belongs(step: Step, key: string): boolean {
  return belongsTo(step, objectName(key, project))
}

function belongsTo(step: Step, name: string): boolean {
  return 'name' in step && (step.name === name || step.name.endsWith(`.${name}`))
}
