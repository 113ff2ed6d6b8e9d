import { strict as assert } from 'node:assert'
import { UnikraftCloud, UnikraftCloudError } from '@unikraft/cloud'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'

describe('the SDK in JavaScript', () => {
  let api: TestApi
  let ukc: UnikraftCloud
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    resetFaults(api.control)
    const { token } = await api.addUser()
    ukc = new UnikraftCloud({ baseUrl: api.url, token })
  })

  it('creates, waits for, changes, stops and deletes an instance', async () => {
    const web = ukc.instances.get({ name: 'web' })
    const spec = { name: 'web', image: 'hello:latest', autostart: true, timeout_s: 10 }
    assert.equal((await ukc.instances.create(spec)).state, 'running')
    assert.equal((await web.wait({ state: 'running', timeoutSeconds: 10 })).state, 'running')
    assert.equal((await web.logs({ offset: -4096 })).output, '')
    assert.equal((await web.metrics()).rss_bytes, 0)
    assert.equal((await web.stop()).previous_state, 'running')
    await web.wait({ state: 'stopped', timeoutSeconds: 10 })
    await web.update({ memory_mb: 256, env: { A: '1' }, args: null })
    await web
      .edit()
      .add({ env: { B: '2' }, tags: ['prod'] })
      .del({ env: ['A'] })
      .apply()
    const read = await web.refresh()
    assert.partialDeepStrictEqual(read, { memory_mb: 256, env: { B: '2' }, tags: ['prod'] })
    const tagged: (string | undefined)[] = []
    for await (const { name } of ukc.instances.list({ tags: ['prod'], details: true })) tagged.push(name)
    assert.deepEqual(tagged, ['web'])
    assert.equal((await web.start()).name, 'web')
    assert.equal((await web.delete()).name, 'web')
    for await (const { name } of ukc.instances.list()) assert.fail(`${name} is still there`)
  })

  it('knows a wait that timed out, and an instance that does not exist', async () => {
    await ukc.instances.create({ name: 'slow', image: 'hello:latest' })
    const slow = ukc.instances.get({ name: 'slow' })
    await assert.rejects(async () => await slow.wait({ state: 'running', timeoutSeconds: 0 }), /timed out/)
    const missing = async () => await ukc.instances.get({ name: 'other' }).stop()
    await assert.rejects(missing, (error) => {
      assert.ok(error instanceof UnikraftCloudError)
      assert.match(JSON.stringify(error.body), /No instance with name 'other'/)
      return true
    })
  })
})
