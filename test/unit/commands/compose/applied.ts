import assert from 'node:assert/strict'
import type { RollOutStep } from '../../../../src/commands/compose/rollout-steps.ts'
import type { Step } from '../../../../src/commands/compose/plan.ts'
import type { Actual, ActualInstance, ActualService } from '../../../../src/commands/compose/states.ts'

export const nothing: Actual = { instances: [], inRollouts: [], services: [], volumes: [], foreign: [] }

/** What the platform has after steps, by its own rules: a step that it would refuse throws. */
export function applied(actual: Actual, steps: readonly Step[]): Actual {
  return steps.reduce((before, step) => appliedOne(before, step), actual)
}

function appliedOne(actual: Actual, step: Step): Actual {
  const { instances, services, volumes } = actual
  switch (step.kind) {
    case 'create-volume':
      return { ...actual, volumes: [...volumes, { name: step.name, sizeMb: step.sizeMb }] }
    case 'create-service':
    case 'change-service': {
      const found = services.find(({ name }) => name === step.name)
      if ((found === undefined) !== (step.kind === 'create-service')) throw new Error(`service ${step.name}`)
      const { name, ports, domains = found?.domains ?? [`${step.name}.made`] } = step
      const service: ActualService = { instances: [], ...found, name, ports, domains }
      return { ...actual, services: [...services.filter((one) => one !== found), service] }
    }
    case 'create-instance':
      return created(actual, step)
    case 'replace-instance':
      return created(removed(actual, step.name), step)
    case 'roll-out':
      return rolledOut(actual, step)
    case 'change-instance':
    case 'start-instance': {
      const found = instanceNamed(actual, step.name)
      const configuration = step.kind === 'change-instance' ? step.configuration : found.configuration
      const changed: ActualInstance = { ...found, configuration, state: 'running' }
      return { ...actual, instances: instances.map((one) => (one === found ? changed : one)) }
    }
    case 'await':
      for (const name of step.instances) instanceNamed(actual, name)
      return actual
    case 'set-autoscale': {
      instanceNamed(actual, step.master)
      return { ...actual, services: scaled(services, step.name, step) }
    }
    case 'remove-autoscale':
      return { ...actual, services: scaled(services, step.name, {}) }
    case 'delete-instance':
      return removed(actual, step.name)
    case 'delete-service': {
      if (instances.some(({ service }) => service === step.name))
        throw new Error(`${step.name} has instances`)
      return { ...actual, services: services.filter(({ name }) => name !== step.name) }
    }
    case 'delete-volume':
      return { ...actual, volumes: volumes.filter(({ name }) => name !== step.name) }
    default:
      return step satisfies never
  }
}

/** A rollout is of all instances of a service that are up, and keeps what it can not change. */
function rolledOut(actual: Actual, { name, configuration, instances: named }: RollOutStep): Actual {
  const isUp = ({ state }: ActualInstance) => !['stopped', 'stopping', 'draining'].includes(state)
  const up = actual.instances.filter((one) => one.service === name && isUp(one))
  if (up.length === 0) throw new Error(`${name} has nothing to be rolled out`)
  assert.deepEqual(
    up.map((one) => one.name),
    named,
  )
  return {
    ...actual,
    instances: actual.instances.map((one) => {
      if (!up.includes(one)) return one
      const { restart, sleep, tags } = one.configuration
      return { ...one, configuration: { ...configuration, restart, sleep, tags }, state: 'running' }
    }),
  }
}

function instanceNamed({ instances }: Actual, name: string): ActualInstance {
  const found = instances.find((one) => one.name === name)
  if (found === undefined) throw new Error(`there is no instance ${name}`)
  return found
}

function created(
  actual: Actual,
  step: Extract<Step, { kind: 'create-instance' | 'replace-instance' }>,
): Actual {
  const { name, configuration, mount, service } = step
  const { instances, services, volumes } = actual
  if (instances.some((one) => one.name === name)) throw new Error(`${name} exists`)
  if (service !== undefined && !services.some((one) => one.name === service)) throw new Error(`no ${service}`)
  if (mount !== undefined) {
    if (!volumes.some((one) => one.name === mount.volume)) throw new Error(`no ${mount.volume}`)
    const holder = instances.find((one) => one.mount?.volume === mount.volume)
    if (holder !== undefined) throw new Error(`${mount.volume} is attached to ${holder.name}`)
  }
  const made = { name, configuration, state: 'running', ...(mount && { mount }), ...(service && { service }) }
  return {
    ...actual,
    instances: [...instances, made],
    services: services.map((one) =>
      one.name === service ? { ...one, instances: [...one.instances, name] } : one,
    ),
  }
}

function removed(actual: Actual, name: string): Actual {
  instanceNamed(actual, name)
  const scaled = actual.services.find((one) => one.autoscale !== undefined && one.instances.includes(name))
  if (scaled !== undefined) throw new Error(`${name} is the master of ${scaled.name}`)
  return {
    ...actual,
    instances: actual.instances.filter((one) => one.name !== name),
    services: actual.services.map((one) => ({
      ...one,
      instances: one.instances.filter((own) => own !== name),
    })),
  }
}

function scaled(
  services: readonly ActualService[],
  name: string,
  { autoscale }: Pick<ActualService, 'autoscale'>,
): readonly ActualService[] {
  return services.map((one) => {
    if (one.name !== name) return one
    const { autoscale: was, ...rest } = one
    if ((was === undefined) === (autoscale === undefined)) throw new Error(`autoscale of ${name}`)
    return { ...rest, ...(autoscale && { autoscale }) }
  })
}
