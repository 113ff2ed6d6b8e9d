import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from '@temporalio/client'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { readNamespaceConfig, searchAttributeKinds } from '../../src/launch/services/temporal-config.ts'
import { currentBundle, startDevServer } from '../support/temporal.ts'
import { until } from '../support/until.ts'

/**
 * A limit that fits the slowest case on a busy machine: the loss of an activity is noticed after its
 * heartbeat timeout, the loss of a workflow task after the task's own timeout.
 */
export const arrives = { limitMs: 150_000 }

/** What the tests of processes that die share: a Temporal server, a directory and the workflows. */
export interface CrashStage {
  readonly env: TestWorkflowEnvironment
  /** A directory that only this test uses. */
  readonly directory: string
  /** The file with the bundled workflows. */
  readonly bundle: string
  close(): Promise<void>
}

export async function openCrashStage(name: string): Promise<CrashStage> {
  const env = await startDevServer()
  const directory = await mkdtemp(path.join(tmpdir(), `roost-${name}-crash-`))
  const bundle = path.join(directory, 'workflows.js')
  await writeFile(bundle, (await currentBundle()).code)
  return {
    env,
    directory,
    bundle,
    async close() {
      await env.teardown()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/**
 * Repeats the call until it succeeds: a new server, or one whose worker just died, may not answer at once.
 */
export async function repeatedly(what: string, call: () => Promise<unknown>): Promise<void> {
  const succeeds = (): Promise<boolean> =>
    call().then(
      () => true,
      () => false,
    )
  await until(what, succeeds, arrives)
}

/** Resolves when the workflow has ended by itself. */
export async function workflowIsOver(
  env: TestWorkflowEnvironment,
  { namespace, id }: { readonly namespace: string; readonly id: string },
): Promise<void> {
  const { workflow } = new Client({ connection: env.connection, namespace })
  const isOver = async (): Promise<boolean> =>
    (await workflow.getHandle(id).describe()).status.name === 'COMPLETED'
  await until('its workflow is over', isOver, arrives)
}

export async function newNamespace(env: TestWorkflowEnvironment): Promise<string> {
  const namespace = `crash-${randomUUID().slice(0, 8)}`
  const day = { seconds: 86_400 as never }
  await env.connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: day,
  })
  const { searchAttributes } = readNamespaceConfig()
  await repeatedly('the namespace takes its attributes', () =>
    env.connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        Object.entries(searchAttributes).map(([name, kind]) => [name, searchAttributeKinds[kind]]),
      ),
    }),
  )
  return namespace
}
