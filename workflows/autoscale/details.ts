import { explainOutcome } from '../../src/domain/autoscale/explanation.ts'
import { AutoscalePhase } from '../../src/domain/autoscale/life.ts'
import type { AutoscaleLife } from '../../src/domain/autoscale/life.ts'
import type { AutoscaleSettings } from '../../src/domain/autoscale/settings.ts'

/** What the Web UI shows of an autoscale configuration: what it does and why, and what comes next. */
export function autoscaleDetails(
  life: AutoscaleLife,
  { serviceName }: Pick<AutoscaleSettings, 'serviceName'>,
): string {
  const { blockedUntilMs, failures, failedAtMs, trouble } = life
  const { now, next } = byPhase[life.phase](life, serviceName)
  const lines = [`**${life.phase}**: ${serviceName} ${now}.`, '', `- next: ${next}`]
  if (blockedUntilMs !== undefined) lines.push(`- nothing is added before ${timeOf(blockedUntilMs)}`)
  if (trouble !== undefined && failedAtMs !== undefined)
    lines.push(`- failed ${times(failures)}, last at ${timeOf(failedAtMs)}: ${trouble}`)
  return lines.join('\n')
}

interface Words {
  readonly now: string
  readonly next: string
}

const byPhase = {
  [AutoscalePhase.Watching]: ({ target }, name) => ({
    now: target === undefined ? 'is looked at for the first time' : `is to have ${instances(target)}`,
    next: `another size when its load wants one; \`roost autoscale explain ${name}\` tells what is seen at present`,
  }),
  [AutoscalePhase.Aligning]: ({ cause, target, blockedUntilMs }) => ({
    now: cause === undefined ? 'is made the size that was decided on' : explainOutcome(cause),
    next: whatChanges(target, blockedUntilMs !== undefined),
  }),
  [AutoscalePhase.Closing]: () => ({
    now: 'is autoscaled no more',
    next: 'all its clones are given back, its master is started if it is stopped, and its configuration goes',
  }),
  [AutoscalePhase.Over]: () => ({ now: 'is autoscaled no more', next: 'nothing' }),
} satisfies Record<AutoscalePhase, (life: AutoscaleLife, name: string) => Words>

function whatChanges(target: number | undefined, isBlocked: boolean): string {
  const aim = target === undefined ? 'as many as there are, within min_size and max_size' : instances(target)
  return isBlocked ? `what is too much for ${aim} is given back; nothing is added` : `it is made ${aim}`
}

function instances(count: number): string {
  return count === 1 ? '1 instance' : `${count} instances`
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times in a row`
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString()
}
