import { strict as assert } from 'node:assert'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { runPythonSdk } from '../../support/python-sdk.ts'

describe('the SDK in Python', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    resetFaults(api.control)
    user = await api.addUser()
  })

  it('creates, waits for, changes, stops and deletes an instance', async () => {
    const found = await runPythonSdk(
      api,
      user,
      `
      web = ukc.instances.get(name="web")
      found = {}
      spec = {"name": "web", "image": "hello:latest", "autostart": True, "timeout_s": 10}
      found["created"] = await ukc.instances.create(**spec)
      found["ran"] = await web.wait(state="running", timeout_seconds=10)
      found["logs"] = await web.logs(offset=-4096)
      found["metrics"] = await web.metrics()
      found["stopped"] = await web.stop()
      await web.wait(state="stopped", timeout_seconds=10)
      found["updated"] = await web.update(memory_mb=256, env={"A": "1"}, args=REMOVE)
      await web.edit().add(env={"B": "2"}, tags=["prod"]).delete(env=["A"]).apply()
      found["read"] = await web.refresh()
      found["tagged"] = [one.name async for one in ukc.instances.list(tags=["prod"], details=True)]
      found["started"] = await web.start()
      found["deleted"] = await web.delete()
      found["left"] = await ukc.instances.list()
      return found
      `,
    )
    assert.partialDeepStrictEqual(found, {
      created: { name: 'web', state: 'running', boot_time_us: 12345 },
      ran: { state: 'running' },
      logs: { output: '', range: { start: 0, end: 0 } },
      metrics: { rss_bytes: 0, state: 'running' },
      stopped: { previous_state: 'running' },
      updated: { changed: ['env', 'memory_mb'] },
      read: { memory_mb: 256, env: { B: '2' }, tags: ['prod'] },
      tagged: ['web'],
      started: { name: 'web' },
      deleted: { name: 'web' },
    })
    assert.deepEqual(found.left, [])
  })

  it('knows a wait that timed out, and an instance that does not exist', async () => {
    const found = await runPythonSdk(
      api,
      user,
      `
      await ukc.instances.create(name="slow", image="hello:latest")
      found = []
      for call in [
          ukc.instances.get(name="slow").wait(state="running", timeout_seconds=0),
          ukc.instances.get(name="other").stop(),
      ]:
          try:
              await call
          except UnikraftCloudError as error:
              found.append([type(error).__name__, str(error)])
      return found
      `,
    )
    assert.equal(found[0][0], 'WaitTimeoutError')
    assert.equal(found[1][0], 'NotFoundError')
    assert.match(found[1][1], /No instance with name 'other'/)
  })
})
