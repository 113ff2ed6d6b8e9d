import type { UserEvent } from '../../src/client/event-stream.ts'
import { AskerKind } from '../../src/domain/event/asker.ts'
import { UserEventKind } from '../../src/domain/event/user-event-kind.ts'
import type { HostState } from '../../src/domain/host/explanation.ts'
import { UpgradeState } from '../../src/domain/host/upgrade.ts'
import { HostUse } from '../../src/domain/host/use.ts'
import { RolloutPhase } from '../../src/domain/rollout/phase.ts'
import { RunResult } from '../../src/domain/schedule/run.ts'
import { clockTime } from '../frame/time.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import { Mood } from '../instance/mood.ts'

/** What happened to an object, in words that follow its name. */
export interface EventText {
  readonly what: string
  readonly mood: Mood
}

const byKind: Readonly<Record<UserEventKind, EventText>> = {
  [UserEventKind.InstanceCreated]: { what: 'was created', mood: Mood.Rests },
  [UserEventKind.InstanceStart]: { what: 'is to start', mood: Mood.Moves },
  [UserEventKind.InstanceStop]: { what: 'is to stop', mood: Mood.Moves },
  [UserEventKind.InstanceSuspend]: { what: 'is to sleep', mood: Mood.Moves },
  [UserEventKind.InstanceMove]: { what: 'is to move', mood: Mood.Moves },
  [UserEventKind.InstanceMoved]: { what: 'moved to another host', mood: Mood.Rests },
  [UserEventKind.InstanceMoveFailed]: { what: 'did not move', mood: Mood.Fails },
  [UserEventKind.InstanceState]: { what: 'changed', mood: Mood.Moves },
  [UserEventKind.InstanceFailure]: { what: 'failed', mood: Mood.Fails },
  [UserEventKind.InstanceChanged]: { what: 'changed', mood: 'moves' },
  [UserEventKind.InstanceExec]: { what: 'runs a program', mood: Mood.Rests },
  [UserEventKind.InstanceCopied]: { what: 'files are copied', mood: Mood.Rests },
  [UserEventKind.InstanceConnected]: { what: 'is connected to', mood: Mood.Rests },
  [UserEventKind.InstanceVolume]: { what: 'has other volumes', mood: Mood.Rests },
  [UserEventKind.InstanceRetired]: { what: 'is given back', mood: Mood.Moves },
  [UserEventKind.InstanceDeleted]: { what: 'was deleted', mood: Mood.Rests },
  [UserEventKind.InstanceRemoved]: { what: 'is gone from its host', mood: Mood.Rests },
  [UserEventKind.ServiceCreated]: { what: 'was created', mood: Mood.Rests },
  [UserEventKind.ServiceChanged]: { what: 'was changed', mood: Mood.Rests },
  [UserEventKind.ServiceRollout]: { what: 'gets another version', mood: Mood.Moves },
  [UserEventKind.ServiceDeleted]: { what: 'was deleted', mood: Mood.Rests },
  [UserEventKind.CertificateCreated]: { what: 'was created', mood: Mood.Rests },
  [UserEventKind.CertificateAttempt]: { what: 'is requested', mood: Mood.Moves },
  [UserEventKind.CertificateState]: { what: 'changed', mood: Mood.Moves },
  [UserEventKind.CertificateFailure]: { what: 'was not issued', mood: Mood.Fails },
  [UserEventKind.CertificateInstalled]: { what: 'is installed', mood: Mood.Runs },
  [UserEventKind.CertificateDeleted]: { what: 'was deleted', mood: Mood.Rests },
  [UserEventKind.VolumeCreated]: { what: 'was created', mood: Mood.Rests },
  [UserEventKind.VolumeState]: { what: 'changed', mood: Mood.Moves },
  [UserEventKind.VolumeDeleted]: { what: 'was deleted', mood: Mood.Rests },
  [UserEventKind.VolumeRemoved]: { what: 'is gone from its host', mood: Mood.Rests },
  [UserEventKind.AutoscaleCreated]: { what: 'has autoscale', mood: Mood.Rests },
  [UserEventKind.AutoscalePolicies]: { what: 'has other policies', mood: Mood.Rests },
  [UserEventKind.AutoscaleDecision]: { what: 'gets another size', mood: Mood.Moves },
  [UserEventKind.AutoscaleDeleted]: { what: 'has no autoscale any more', mood: Mood.Rests },
  [UserEventKind.ScheduleCreated]: { what: 'was created', mood: Mood.Rests },
  [UserEventKind.ScheduleChanged]: { what: 'was changed', mood: Mood.Rests },
  [UserEventKind.ScheduleRun]: { what: 'ran', mood: Mood.Rests },
  [UserEventKind.ScheduleDeleted]: { what: 'was deleted', mood: Mood.Rests },
  [UserEventKind.TokenCreated]: { what: 'was created', mood: Mood.Rests },
  [UserEventKind.TokenRevoked]: { what: 'was revoked', mood: Mood.Rests },
  [UserEventKind.HostState]: { what: 'changed', mood: Mood.Moves },
  [UserEventKind.HostUse]: { what: 'changed', mood: Mood.Moves },
  [UserEventKind.HostUpgrade]: { what: 'is upgraded', mood: Mood.Moves },
  [UserEventKind.ImagePushed]: { what: 'was pushed', mood: Mood.Runs },
  [UserEventKind.ImageDeleted]: { what: 'was deleted', mood: Mood.Rests },
  [UserEventKind.AccountCreated]: { what: 'was created', mood: Mood.Rests },
  [UserEventKind.AccountQuotas]: { what: 'has other quotas', mood: Mood.Rests },
}

const toState: Readonly<Record<InstanceState, EventText>> = {
  [InstanceState.Stopped]: { what: 'stopped', mood: Mood.Rests },
  [InstanceState.Starting]: { what: 'starts', mood: Mood.Moves },
  [InstanceState.Running]: { what: 'runs', mood: Mood.Runs },
  [InstanceState.Draining]: { what: 'drains', mood: Mood.Moves },
  [InstanceState.Stopping]: { what: 'stops', mood: Mood.Moves },
  [InstanceState.Standby]: { what: 'fell asleep', mood: Mood.Sleeps },
}

const toPhase: Readonly<Record<RolloutPhase, EventText>> = {
  [RolloutPhase.Preparing]: { what: 'gets a new version', mood: Mood.Moves },
  [RolloutPhase.Baking]: { what: 'tries a new version', mood: Mood.Moves },
  [RolloutPhase.Kept]: { what: 'has a new version', mood: Mood.Runs },
  [RolloutPhase.Returning]: { what: 'goes back', mood: Mood.Moves },
  [RolloutPhase.Done]: { what: 'keeps no old version any more', mood: Mood.Rests },
  [RolloutPhase.Returned]: { what: 'went back', mood: Mood.Fails },
}

/** A host that falls silent tells nothing, and no event tells of a release. */
const toHostState: Readonly<Partial<Record<HostState, EventText>>> = {
  lost: { what: 'is lost', mood: Mood.Fails },
  live: { what: 'is heard again', mood: Mood.Runs },
}

const toHostUse: Readonly<Record<HostUse, EventText>> = {
  [HostUse.Open]: { what: 'is not cordoned any more', mood: Mood.Runs },
  [HostUse.Cordoned]: { what: 'is cordoned', mood: Mood.Rests },
  [HostUse.Draining]: { what: 'is being emptied', mood: Mood.Moves },
}

const toUpgradeState: Readonly<Record<UpgradeState, EventText>> = {
  [UpgradeState.Exchanging]: { what: 'is upgraded', mood: Mood.Moves },
  [UpgradeState.GoingBack]: { what: 'goes back to the version before', mood: Mood.Moves },
  [UpgradeState.Done]: { what: 'was upgraded', mood: Mood.Runs },
  [UpgradeState.WentBack]: { what: 'went back to the version before', mood: Mood.Fails },
  [UpgradeState.CutOff]: { what: 'was not upgraded to the end', mood: Mood.Fails },
}

export function eventText({ kind, from, to }: UserEvent): EventText {
  const known = byKind[kind as UserEventKind] ?? { what: kind, mood: Mood.Rests }
  if (kind === UserEventKind.InstanceState && to !== undefined) {
    if (from === InstanceState.Standby && to !== InstanceState.Stopped) {
      return { what: 'woke', mood: to === InstanceState.Running ? Mood.Runs : Mood.Moves }
    }
    return toState[to as InstanceState] ?? known
  }
  if (kind === UserEventKind.HostState && to !== undefined) return toHostState[to as HostState] ?? known
  if (kind === UserEventKind.HostUse && to !== undefined) return toHostUse[to as HostUse] ?? known
  if (kind === UserEventKind.HostUpgrade && to !== undefined)
    return toUpgradeState[to as UpgradeState] ?? known
  if (kind === UserEventKind.ServiceRollout && to !== undefined) return toPhase[to as RolloutPhase] ?? known
  if (kind === UserEventKind.ScheduleRun && to === RunResult.Failed)
    return { what: 'failed', mood: Mood.Fails }
  return to === undefined || known.what !== 'changed' ? known : { what: `is ${to}`, mood: known.mood }
}

/** Who caused it, where that is not plain from the rest. */
export function askerText({ by }: UserEvent): string | undefined {
  if (by.kind === AskerKind.Operator) return 'by an operator'
  if (by.kind === AskerKind.Autoscale) return 'by autoscale'
  if (by.kind === AskerKind.Rollout) return `by a rollout of ${by.name ?? ''}`
  if (by.kind === AskerKind.Schedule) return `by schedule ${by.name ?? ''}`
  if (by.kind !== AskerKind.Token) return undefined
  return by.name === undefined ? 'by a token' : `by token ${shortName(by.name)}`
}

const uuid = /\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
const isoTime = /\b\d{4}-\d{2}-\d{2}T[\d:.]+Z/g

/**
 * A text of the API with times as the page writes them, and of UUIDs only the beginning, which tells
 * enough.
 */
export function readable(text: string): string {
  return shortName(text.replaceAll(isoTime, (at) => clockTime(at)))
}

/** Tokens without a label are called by their UUIDs. */
export function shortName(name: string): string {
  return name.replaceAll(uuid, '$1')
}
