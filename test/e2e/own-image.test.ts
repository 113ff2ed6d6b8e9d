import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { readInstalled, requireInstalled } from '../../src/launch/installed.ts'
import { runInstance } from '../support/instances.ts'
import { openPublicNames } from '../support/public-names.ts'
import { createRoostProgram } from '../support/roost-program.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'

const run = promisify(execFile)

describe("an image of the user's own", () => {
  let stack: Stack
  let layout: string
  before(async () => {
    stack = await sharedStack()
    layout = requireInstalled(readInstalled(), 'sampleImages')
  })

  const push = (target: string, credentials: string) =>
    run('skopeo', [
      'copy',
      '--dest-tls-verify=false',
      '--dest-creds',
      credentials,
      `oci:${layout}:busybox:latest`,
      `docker://${stack.registry}/${target}`,
    ])
  const credentials = () => Buffer.from(stack.token, 'base64').toString('utf8')

  it("is pushed with the user's token, listed at once, and runs", async () => {
    await push('admin/mine:v1', credentials())
    const images = await stack.api.call('listImages', { query: { namespace: 'admin' } })
    const mine = images.find(({ tags }) => tags.includes('admin/mine:v1'))
    assert.ok(mine, JSON.stringify(images))
    const view = await runInstance(stack.api, { name: 'own-image', image: 'admin/mine:v1' })
    assert.equal(view.image, mine.digest)
    await stack.api.one('deleteInstances', { object: view.uuid })
  })

  it('is pushed and runs from another machine, which knows the public address of the API alone', async () => {
    const names = openPublicNames(stack)
    const roost = await createRoostProgram()
    const env = { NODE_OPTIONS: `--import=${path.resolve('test/support/names-on-loopback.ts')}` }
    const done = async (args: readonly string[], input = '') => {
      const { code, out, err } = await roost.run(args, { env, input })
      assert.equal(code, 0, `${args.join(' ')}: ${err}`)
      return out
    }
    try {
      await done(['login', 'api.roost.localhost', '--ca', names.caFile], stack.token)
      await done(['push', layout, 'far:v1', '--image', 'busybox:latest'])
      const command = ['run', 'admin/far:v1', '--name', 'far-image', '-p', '443:8080', '--', 'sleep', '1000']
      const told = await done(command)
      const url = told.trim().split('\n').at(-1)
      assert.match(told, /^far-image is running, booted in \d+ ms/)
      assert.equal(await done(['open', '--print', 'far-image']), `${url}\n`)
      assert.match(String(url), /^https:\/\/[\w-]+\.roost\.localhost$/)
    } finally {
      await roost.run(['rm', 'far-image'], { env })
      await Promise.all([roost.remove(), names.close()])
    }
  })

  it("can not be pushed into another's namespace, nor with a wrong token", async () => {
    await assert.rejects(push('someone/else:v1', credentials()))
    await assert.rejects(push('admin/mine:v2', 'admin:wrong'))
  })
})
