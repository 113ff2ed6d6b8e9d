import { one } from '../../client/answers.ts'
import { awaitRunning } from '../instance/run-command.ts'
import type { Session } from '../session.ts'
import { changeBody } from './differences.ts'
import type { Step } from './plan.ts'

/**
 * Brings a change to an instance: what it is launched with reaches it by a restart, during which requests
 * wait. An instance that is stopped is started.
 */
export async function changeService(
  session: Session,
  step: Extract<Step, { kind: 'change-instance' }>,
  deadlineMs: number,
): Promise<void> {
  const { client } = session
  const { name, configuration, differences, isStopped } = step
  const params = { path: { object: name } }
  const body = { ...changeBody(configuration, differences), ...(!isStopped && { restart: true }) }
  const { restarting } = one(await client.PATCH('/v1/instances/{object}', { params, body }))
  if (isStopped) one(await client.PUT('/v1/instances/{object}/start', { params, body: {} }))
  if (restarting || isStopped) await awaitRunning(session, name, deadlineMs)
}
