import { ApiFailure } from '../../client/api-failure.ts'
import { one } from '../../client/answers.ts'
import { pause } from '../../client/pause.ts'
import { RolloutPhase } from '../../domain/rollout/phase.ts'
import { CommandFailure, ExitCode } from '../command-failure.ts'
import { withProgress } from '../progress.ts'
import type { Session } from '../session.ts'
import { sentenceOf, servingVersion } from './words.ts'
import type { Rollout } from './words.ts'

interface Followed {
  readonly service: { readonly uuid: string; readonly name: string }
  /** The rollout as it was when following began. */
  readonly rollout: Rollout
  /** The version that has to serve in the end. */
  readonly wanted: 'old' | 'next'
}

/** How often the API is asked. A step takes seconds. */
const lookMs = 1_000
/** How long the API may be away. It is back sooner after a restart. */
const awayLimitMs = 60_000

/**
 * Tells each step of a rollout until one version serves. Throws `CommandFailure` if that is not the wanted
 * one, and if Ctrl-C ends this before.
 */
export async function follow(session: Session, { service, rollout, wanted }: Followed): Promise<void> {
  const { name } = service
  // Until its workflow has heard, a rollout that is to go back is as before, and the new version serves.
  const asBefore = wanted === 'old' ? stateOf(rollout) : undefined
  const last = await tellUntil(session, {
    service,
    rollout,
    isLast: (now) => stateOf(now) !== asBefore && isOver(now, wanted),
    textOf: (now) =>
      stateOf(now) === asBefore ? `${name} is asked to go back` : sentenceOf({ name, rollout: now }),
  })
  const text = sentenceOf({ name, rollout: last })
  if (servingVersion(last) !== wanted) throw new CommandFailure(text)
  session.answer({ json: last, text })
}

/**
 * Tells each state of a rollout until the last one, and returns that. Throws `CommandFailure` if Ctrl-C or
 * the deadline ends this before; the rollout goes on then.
 */
export async function tellUntil(
  session: Session,
  {
    service,
    rollout,
    isLast,
    textOf,
    deadlineMs = Number.POSITIVE_INFINITY,
  }: Omit<Followed, 'wanted'> & {
    readonly isLast: (now: Rollout) => boolean
    readonly textOf: (now: Rollout) => string
    readonly deadlineMs?: number
  },
): Promise<Rollout> {
  let now = rollout
  while (!isLast(now)) {
    const text = textOf(now)
    session.tell(text)
    now = await nextState(session, { service, before: now, text, deadlineMs })
  }
  return now
}

/**
 * The new version may have got its place in the moment in which going back was asked for. It goes back all
 * the same, unless a reason says that it stays.
 */
function isOver(rollout: Rollout, wanted: Followed['wanted']): boolean {
  const goesBackStill =
    wanted === 'old' && rollout.phase === RolloutPhase.Kept && rollout.reason === undefined
  return servingVersion(rollout) !== undefined && !goesBackStill
}

/**
 * What tells a state of a rollout from another one. Times have whole seconds, and a rollout may have left a
 * phase and come back to it within one: then it has a reason.
 */
function stateOf({ phase, step, percent, since, reason }: Rollout): string {
  return [phase, step, percent, since, reason].join(' ')
}

async function nextState(
  session: Session,
  of: {
    readonly service: Followed['service']
    readonly before: Rollout
    readonly text: string
    readonly deadlineMs: number
  },
): Promise<Rollout> {
  const { service, before, text, deadlineMs } = of
  const { signal } = session.deps
  return await withProgress(
    session,
    () => text,
    async () => {
      for (;;) {
        await pause(lookMs, signal)
        if (signal.aborted) throw left(service.name)
        if (Date.now() >= deadlineMs) throw late(service.name)
        const now = await readAgain(session, service, before.uuid)
        if (stateOf(now) !== stateOf(before)) return now
      }
    },
  )
}

function left(name: string): CommandFailure {
  return new CommandFailure(goesOn(name))
}

function late(name: string): CommandFailure {
  return new CommandFailure(`--timeout is over, but ${goesOn(name)}`, { exitCode: ExitCode.TimedOut })
}

function goesOn(name: string): string {
  return `the rollout of ${name} goes on: \`roost rollouts ${name}\` shows how, and \`roost rollback ${name}\` goes back`
}

/** Reads a rollout, and waits for an API that is away for a moment. */
async function readAgain(session: Session, service: Followed['service'], uuid: string): Promise<Rollout> {
  const { signal } = session.deps
  const awaySinceMs = Date.now()
  for (;;) {
    try {
      return await read(session, service, uuid)
    } catch (error) {
      if (signal.aborted) throw left(service.name)
      if (!isAway(error) || Date.now() - awaySinceMs > awayLimitMs) throw error
      await pause(lookMs, signal)
    }
  }
}

async function read({ client, deps }: Session, service: Followed['service'], uuid: string): Promise<Rollout> {
  const params = { path: { object: service.uuid } }
  const answer = await client.GET('/v1/services/{object}/rollouts', { params, signal: deps.signal })
  const found = one(answer).rollouts.find((each) => each.uuid === uuid)
  if (found !== undefined) return found
  throw new CommandFailure(`the rollout of ${service.name} is not known any more`, {
    exitCode: ExitCode.NotFound,
  })
}

function isAway(error: unknown): boolean {
  if (!(error instanceof ApiFailure)) return false
  const { httpStatus } = error.facts
  return httpStatus === undefined || httpStatus >= 500 || httpStatus === 429
}
