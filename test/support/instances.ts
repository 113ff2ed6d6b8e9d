import type { ApiClient, Entry } from './api-client.ts'

export type InstanceView = Entry<'getInstances'>

/** The longest wait for a start. Several emulated guests at once on two cores may take a while. */
const runLimitMs = 60_000

/** Creates one instance and waits until it runs. */
export async function runInstance(
  api: ApiClient,
  body: Readonly<Record<string, unknown>>,
): Promise<InstanceView> {
  const created = await api.one('createInstances', {
    body: { autostart: true, wait_timeout_ms: runLimitMs, ...body },
  })
  return viewOf(api, created.uuid)
}

export function viewOf(api: ApiClient, object: string): Promise<InstanceView> {
  return api.one('getInstances', { object, query: { metrics: 'true' } })
}

export async function waitFor(
  api: ApiClient,
  object: string,
  state: string,
  timeoutMs = runLimitMs,
): Promise<InstanceView> {
  await api.one('waitInstances', { object, body: { state, timeout_ms: timeoutMs } })
  return viewOf(api, object)
}

/** The log of the instance from its beginning, 64 KiB at most. */
export async function logOf(api: ApiClient, object: string): Promise<string> {
  const log = await api.one('getInstanceLogs', { object, body: { offset: 0, limit: 65_536 } })
  return Buffer.from(log.output, 'base64').toString('utf8')
}

export async function isUnknown(api: ApiClient, uuid: string): Promise<boolean> {
  const answer = await api.attempt('getInstances', { object: uuid })
  const [entry] = answer.entries
  return entry !== undefined && 'error' in entry && entry.error === notFoundCode
}

const notFoundCode = 8
