import assert from 'node:assert/strict'
import { Client, Connection } from '@temporalio/client'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common'
import path from 'node:path'
import { registerNamespace, WrongAttributeType } from '../../src/launch/temporal-registration.ts'
import { readNamespaceConfig } from '../../src/launch/temporal-config.ts'

/** What both forms of Temporal have to do with the files of `temporal-config/`; one suite for the two. */
const config = readNamespaceConfig()
const namespace = 'roost'
const echoLimitMs = 30_000

Runtime.install({ logger: new DefaultLogger('ERROR') })

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

  it('is registered again without a change', async () => {
    await registerNamespace({ address: temporal().address, namespace, config })
  })

  it('follows a change of the retention', async () => {
    const longer = { ...config, retentionDays: config.retentionDays + 1 }
    await registerNamespace({ address: temporal().address, namespace, config: longer })
    const found = await connection.workflowService.describeNamespace({ namespace })
    assert.equal(Number(found.config?.workflowExecutionRetentionTtl?.seconds), longer.retentionDays * 86_400)
    await registerNamespace({ address: temporal().address, namespace, config })
  })

  it('refuses a search attribute that is there with another type', async () => {
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
          workflowExecutionTimeout: echoLimitMs,
          typedSearchAttributes: [{ key: state, value: 'running' }],
        }),
      )
      assert.equal(answer, 'hello')
    } finally {
      await native.close()
    }
  })
}
