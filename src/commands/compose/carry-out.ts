import { one } from '../../client/answers.ts'
import { pause } from '../../client/pause.ts'
import { CommandFailure, ExitCode } from '../command-failure.ts'
import { awaitRunning } from '../instance/run-command.ts'
import { withProgress } from '../progress.ts'
import type { Session } from '../session.ts'
import { changeService } from './change-service.ts'
import { sleepBody } from './differences.ts'
import { runCheck, untilCompleted, untilHealthy } from './health.ts'
import { doneText, stepText } from './plan-text.ts'
import type { NewInstanceStep, PublishStep, Step } from './plan.ts'
import { Condition } from './project.ts'
import { rollOut } from './roll-out.ts'
import { scaleBody } from './scale.ts'

/** The longest time in which an application may end by itself before its instance is deleted. */
const stopLimitMs = 30_000
const stopPauseMs = 100
/** How long the clones of a service may take to go: a drain and a stop. */
const cloneLimitMs = 60_000

/**
 * Carries out steps one after the other and says what is done. If one fails, it says what is left: the next
 * `roost up` finds what is done and goes on.
 */
export async function carryOut(session: Session, steps: readonly Step[], deadlineMs: number): Promise<void> {
  for (const [index, step] of steps.entries()) {
    try {
      session.deps.signal.throwIfAborted()
      const progress = () => stepText(step).replace(/^[^\p{L}]+/u, '')
      await withProgress(session, progress, async () => carryOutStep(session, step, deadlineMs))
      session.tell(doneText(step))
    } catch (error) {
      session.tell(`${index} of ${steps.length} steps are done. Not done:`)
      for (const left of steps.slice(index)) session.tell(`  ${stepText(left)}`)
      throw error
    }
  }
}

async function carryOutStep(session: Session, step: Step, deadlineMs: number): Promise<void> {
  const { client } = session
  switch (step.kind) {
    case 'create-volume':
      one(await client.POST('/v1/volumes', { body: { name: step.name, size_mb: step.sizeMb } }))
      return
    case 'create-service':
      one(await client.POST('/v1/services', { body: { name: step.name, ...publishedBody(step) } }))
      return
    case 'change-service': {
      const params = { path: { object: step.name } }
      one(await client.PATCH('/v1/services/{object}', { params, body: publishedBody(step) }))
      return
    }
    case 'create-instance':
      return await create(session, step, deadlineMs)
    case 'replace-instance':
      await remove(session, step.name)
      return await create(session, step, deadlineMs)
    case 'change-instance':
      return await changeService(session, step, deadlineMs)
    case 'roll-out':
      return await rollOut(session, step, deadlineMs)
    case 'start-instance': {
      const params = { path: { object: step.name } }
      one(await client.PUT('/v1/instances/{object}/start', { params, body: {} }))
      return await awaitRunning(session, step.name, deadlineMs)
    }
    case 'await':
      return await awaitCondition(session, step, deadlineMs)
    case 'set-autoscale':
    case 'remove-autoscale':
    case 'delete-instance':
    case 'delete-service':
    case 'delete-volume':
      return await carryOutPlain(session, step)
    default:
      return step satisfies never
  }
}

type PlainStep = Extract<
  Step,
  { kind: 'set-autoscale' | 'remove-autoscale' | 'delete-instance' | 'delete-service' | 'delete-volume' }
>

async function carryOutPlain(session: Session, step: PlainStep): Promise<void> {
  const { client } = session
  const params = { path: { object: step.name } }
  switch (step.kind) {
    case 'set-autoscale': {
      const body = { ...scaleBody(step.autoscale), master: { name: step.master } }
      one(await client.POST('/v1/services/{object}/autoscale', { params, body }))
      return
    }
    case 'remove-autoscale':
      one(await client.DELETE('/v1/services/{object}/autoscale', { params }))
      return
    case 'delete-instance':
      return await remove(session, step.name)
    case 'delete-service':
      await untilEmpty(session, step.name)
      one(await client.DELETE('/v1/services/{object}', { params }))
      return
    case 'delete-volume':
      one(await client.DELETE('/v1/volumes/{object}', { params }))
      return
    default:
      return step satisfies never
  }
}

function publishedBody({ ports, domains }: PublishStep) {
  return {
    services: ports.map(({ port, destinationPort }) => ({ port, destination_port: destinationPort })),
    // A name with a final dot is taken as it is.
    ...(domains && { domains: domains.map((name) => ({ name: `${name}.` })) }),
  }
}

async function create(session: Session, step: NewInstanceStep, deadlineMs: number): Promise<void> {
  const { name, configuration, mount, service } = step
  const { image, args, env, memoryMb, vcpus, restart, sleep, tags } = configuration
  const body = {
    name,
    image,
    ...(args && { args: [...args] }),
    env: { ...env },
    memory_mb: memoryMb,
    vcpus,
    restart_policy: restart,
    scale_to_zero: sleepBody(sleep),
    tags: [...tags],
    ...(mount && { volumes: [{ name: mount.volume, at: mount.at, readonly: mount.readonly }] }),
    ...(service !== undefined && { service_group: { name: service } }),
    autostart: true,
  }
  one(await session.client.POST('/v1/instances', { body }))
  await awaitRunning(session, name, deadlineMs)
}

/**
 * Lets an application end by itself, so that it leaves its volume in order, and deletes its instance then.
 */
async function remove({ client, deps }: Session, name: string): Promise<void> {
  const params = { path: { object: name } }
  one(await client.PUT('/v1/instances/{object}/stop', { params, body: {} }))
  const deadlineMs = Date.now() + stopLimitMs
  while (Date.now() < deadlineMs) {
    const { state } = one(await client.GET('/v1/instances/{object}', { params, signal: deps.signal }))
    if (state === 'stopped') break
    await pause(stopPauseMs, deps.signal)
  }
  one(await client.DELETE('/v1/instances/{object}', { params }))
}

/** Waits for the clones of a service, which autoscale gives back one by one. */
async function untilEmpty({ client, deps }: Session, name: string): Promise<void> {
  const params = { path: { object: name } }
  const deadlineMs = Date.now() + cloneLimitMs
  for (;;) {
    const { instances = [] } = one(await client.GET('/v1/services/{object}', { params, signal: deps.signal }))
    // If some are left, the API refuses the deletion and says so.
    if (instances.length === 0 || Date.now() >= deadlineMs) return
    await pause(stopPauseMs, deps.signal)
    deps.signal.throwIfAborted()
  }
}

async function awaitCondition(
  session: Session,
  step: Extract<Step, { kind: 'await' }>,
  deadlineMs: number,
): Promise<void> {
  const { condition, instances, health } = step
  for (const name of instances) {
    if (Date.now() >= deadlineMs) {
      throw new CommandFailure(`${name} was not waited for, because --timeout is over`, {
        exitCode: ExitCode.TimedOut,
      })
    }
    if (condition === Condition.Completed) await untilCompleted(session, name, deadlineMs)
    else if (health !== undefined) {
      const check = async () => runCheck(session, name, health)
      await untilHealthy(session, { name, health, check, deadlineMs })
    }
  }
}
