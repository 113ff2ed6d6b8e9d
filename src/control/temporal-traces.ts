import { defaultPayloadConverter } from '@temporalio/common'
import type { Headers } from '@temporalio/common'
import type { WorkflowClientInterceptor } from '@temporalio/client'
import type { ActivityInterceptorsFactory } from '@temporalio/worker'
import { soundTraceparent, traced, traceparentNow } from '../primitives/traces.ts'
import type { SpanAttributes } from '../primitives/traces.ts'

/**
 * Traces over Temporal. A call to a workflow carries its place in a header, the workflow hands it on to its
 * activities (`workflows/trace-interceptors.ts`), and the worker runs these at that place.
 */
export const placeHeader = 'traceparent'

export const tracedCalls: WorkflowClientInterceptor = {
  startWithDetails: async (input, next) =>
    await call(`StartWorkflow:${input.workflowType}`, input.headers, (headers) =>
      next({ ...input, headers }),
    ),
  startUpdate: async (input, next) =>
    await call(`UpdateWorkflow:${input.updateName}`, input.headers, (headers) => next({ ...input, headers })),
  signal: async (input, next) =>
    await call(`SignalWorkflow:${input.signalName}`, input.headers, (headers) => next({ ...input, headers })),
  signalWithStart: async (input, next) =>
    await call(`SignalWithStartWorkflow:${input.workflowType}`, input.headers, (headers) =>
      next({ ...input, headers }),
    ),
}

export const tracedActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: async (input, next) =>
      await traced(
        {
          name: `RunActivity:${info.activityType}`,
          kind: 'server',
          parent: placeOf(input.headers),
          attributes: { 'temporal.attempt': info.attempt, ...workflowOf(info.workflowExecution?.workflowId) },
        },
        () => next(input),
      ),
  },
})

function workflowOf(workflowId: string | undefined): SpanAttributes {
  return workflowId === undefined ? {} : { 'temporal.workflow.id': workflowId }
}

async function call<T>(name: string, headers: Headers, next: (headers: Headers) => Promise<T>): Promise<T> {
  return await traced({ name, kind: 'client' }, () => {
    const place = traceparentNow()
    if (place === undefined) return next(headers)
    return next({ ...headers, [placeHeader]: defaultPayloadConverter.toPayload(place) })
  })
}

function placeOf(headers: Headers): string | undefined {
  const payload = headers[placeHeader]
  return payload === undefined ? undefined : soundTraceparent(defaultPayloadConverter.fromPayload(payload))
}
