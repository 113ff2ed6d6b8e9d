import assert from 'node:assert/strict'
import fc from 'fast-check'
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

describe('the plan of a project', () => {
  it('makes of anything what the file says, and is empty then', () => {
    fc.assert(
      fc.property(anyDesired, anyDesired, (before, desired) => {
        const had = applied(nothing, planOf(before, nothing, removing).steps)
        const has = applied(had, planOf(desired, had, removing).steps)
        const fresh = applied(nothing, planOf(desired, nothing, removing).steps)
        assert.deepEqual(shape(has), shape(fresh))
        assert.deepEqual(planOf(desired, has, removing).steps, [])
      }),
    )
  })

  it('goes on after any of its steps as if nothing had happened', () => {
    fc.assert(
      fc.property(anyDesired, anyDesired, fc.nat(), (before, desired, random) => {
        const had = applied(nothing, planOf(before, nothing, removing).steps)
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
            /^(create|replace|change|start)-instance$/.test(step.kind) && belongs(step, key) ? index : [],
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
