import assert from 'node:assert/strict'
import { Client, Connection } from '@temporalio/client'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { createInstanceControl } from '../../../src/control/temporal-instance-control.ts'
import { controlTaskQueue } from '../../../src/domain/instance/host-work.ts'
import { instanceWorkflowId } from '../../../workflows/instance/messages.ts'
import { registerNamespace, WrongAttributeType } from '../../../src/launch/services/temporal-registration.ts'
import { readNamespaceConfig } from '../../../src/launch/services/temporal-config.ts'
import { instanceSettings } from '../../support/instance-settings.ts'

const config = readNamespaceConfig()
const namespace = 'roost'
const answerLimitMs = 30_000

Runtime.install({ logger: new DefaultLogger('ERROR') })

/**
 * The suite for both forms of Temporal, set up from `temporal-config/`: the dev server and the production
 * one.
 */
export function itServesRoost(temporal: () => { readonly address: string }): void {
  let connection: Connection

  before(async () => {
    await registerNamespace({ address: temporal().address, namespace, config })
    connection = await Connection.connect({ address: temporal().address })
  })

  after(() => connection.close())

  it('has the namespace with its retention', async () => {
    const found = await connection.workflowService.describeNamespace({ namespace })
    const seconds = Number(found.config?.workflowExecutionRetentionTtl?.seconds)
    assert.equal(seconds, config.retentionDays * 86_400)
  })

  it('has the search attributes', async () => {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
    for (const name of ['RoostUser', 'RoostState', 'RoostNode']) assert.ok(customAttributes[name], name)
  })

  it('can be registered again, which changes nothing', async () => {
    await registerNamespace({ address: temporal().address, namespace, config })
  })

  it('follows a change of the retention', async () => {
    const longer = { ...config, retentionDays: config.retentionDays + 1 }
    await registerNamespace({ address: temporal().address, namespace, config: longer })
    const found = await connection.workflowService.describeNamespace({ namespace })
    assert.equal(Number(found.config?.workflowExecutionRetentionTtl?.seconds), longer.retentionDays * 86_400)
    await registerNamespace({ address: temporal().address, namespace, config })
  })

  it('refuses a search attribute that already exists with another type', async () => {
    const other = { ...config, searchAttributes: { RoostUser: 'Int' } } as const
    await assert.rejects(
      registerNamespace({ address: temporal().address, namespace, config: other }),
      WrongAttributeType,
    )
  })

  it('runs a workflow with a search attribute, a timer and an activity', async () => {
    const native = await NativeConnection.connect({ address: temporal().address })
    const worker = await Worker.create({
      connection: native,
      namespace,
      taskQueue: 'echo',
      workflowsPath: path.join(import.meta.dirname, 'echo-workflow.ts'),
      activities: { echo: async (text: string) => text },
    })
    try {
      const client = new Client({ connection, namespace })
      const state = defineSearchAttributeKey('RoostState', SearchAttributeType.KEYWORD)
      const answer = await worker.runUntil(
        client.workflow.execute('echo', {
          taskQueue: 'echo',
          workflowId: 'echo/1',
          args: ['hello'],
          workflowExecutionTimeout: answerLimitMs,
          typedSearchAttributes: [{ key: state, value: 'running' }],
        }),
      )
      assert.equal(answer, 'hello')
    } finally {
      await native.close()
    }
  })

  it('lets users take turns when work waits for a worker', async () => {
    const client = new Client({ connection, namespace })
    const control = createInstanceControl(client)
    const startedFor = async (userUuid: string): Promise<string> => {
      const settings = instanceSettings({ userUuid, autostart: false })
      await control.ensureStarted(settings)
      return instanceWorkflowId(settings.instanceUuid)
    }
    const [ann, bob] = [randomUUID(), randomUUID()]
    const ofAnn = await Promise.all(Array.from({ length: 30 }, () => startedFor(ann)))
    const ofBob = await startedFor(bob)
    try {
      const given = new Set<string>()
      while (!given.has(ofBob)) {
        const task = await connection.withDeadline(Date.now() + answerLimitMs, async () =>
          connection.workflowService.pollWorkflowTaskQueue({
            namespace,
            taskQueue: { name: controlTaskQueue },
            identity: 'a worker that does nothing',
          }),
        )
        given.add(task.workflowExecution?.workflowId ?? '')
      }
      assert.ok(given.size < 10, `${given.size - 1} of 30 came before the only one of another user`)
    } finally {
      await Promise.all(
        [...ofAnn, ofBob].map(async (workflowId) => client.workflow.getHandle(workflowId).terminate()),
      )
    }
  })
}
