import { one } from '../../client/answers.ts'
import { defaultRolloutCount, keptRollouts } from '../../contract/limits.ts'
import type { Column } from '../output.ts'
import { numberOption } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import { addDeployCommand } from './deploy-command.ts'
import { follow } from './follow.ts'
import type { Rollout } from './words.ts'

export function addRolloutCommands(line: CommandLine): void {
  const { program, session } = line
  addDeployCommand(line)
  program
    .command('rollback <service>')
    .description('go back to the old version, while a rollout is under way or the old version is kept')
    .option('--detach', 'do not follow it')
    .action(async (object: string, { detach }: { readonly detach?: true }) =>
      rollBack(await session(), object, detach === true),
    )
  program
    .command('rollouts <service>')
    .description('list the last rollouts of a service, the newest first')
    .option(
      '--limit <number>',
      'so many',
      numberOption('--limit', { min: 1, max: keptRollouts }),
      defaultRolloutCount,
    )
    .action(async (object: string, { limit }: { readonly limit: number }) =>
      list(await session(), object, limit),
    )
}

async function rollBack(session: Session, object: string, isDetached: boolean): Promise<void> {
  const params = { path: { object } }
  const { uuid, name, rollout } = one(await session.client.PUT('/v1/services/{object}/rollback', { params }))
  if (!isDetached) return await follow(session, { service: { uuid, name }, rollout, wanted: 'old' })
  session.answer({ json: rollout, text: `${name} goes back; \`roost rollouts ${name}\` shows how it goes` })
}

const shape: readonly Column<Rollout>[] = [
  { title: 'BEGUN', text: ({ created_at: at }) => at },
  { title: 'PHASE', text: ({ phase }) => phase },
  { title: 'STEP', text: ({ step, canary }) => `${step}/${canary.length}` },
  { title: 'TRAFFIC', text: ({ percent }) => (percent === undefined ? '' : `${percent} %`) },
  { title: 'CHANGES', text: ({ changes }) => changes.join(', '), shrinks: true },
  { title: 'ENDED', text: ({ ended_at: at = '' }) => at },
  { title: 'WHY', text: ({ reason = '' }) => reason, shrinks: true },
]

async function list(session: Session, object: string, limit: number): Promise<void> {
  const params = { path: { object }, query: { limit } }
  const answer = await session.client.GET('/v1/services/{object}/rollouts', { params })
  session.list(one(answer).rollouts, shape)
}
