import assert from 'node:assert/strict'
import { existsSync, readdirSync, renameSync } from 'node:fs'
import path from 'node:path'
import { runInstance, viewOf, waitFor } from '../support/instances.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { publish, untilAsleep } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import { roost } from '../support/roost-command.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'
import { currentDetailsOf } from '../support/web-ui.ts'

const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`
const seenLimitMs = 20_000

describe('`roost explain` and the Web UI', function () {
  let stack: Stack
  let names: PublicNames
  let kept: Published
  let patient: Published
  let fragile: Published
  let wakeful: { readonly uuid: string }
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
    const speak = `echo + > $ROOST_SCALE_TO_ZERO_FILE; nc -ll -p 80 -e cat`
    ;[kept, patient, fragile, wakeful] = await Promise.all([
      publish(stack, 'kept', { scale_to_zero: { policy: 'on', cooldown_time_ms: 400, stateful: true } }),
      publish(stack, 'patient', { scale_to_zero: { policy: 'on', cooldown_time_ms: 3_600_000 } }),
      publish(stack, 'fragile', { image: 'hello', scale_to_zero: { policy: 'on', cooldown_time_ms: 400 } }),
      runInstance(stack.api, {
        name: 'wakeful',
        image: 'busybox',
        args: ['sh', '-c', speak],
        scale_to_zero: { policy: 'on', cooldown_time_ms: 400 },
      }),
    ])
  })
  after(async () => {
    await names?.close()
    const all = [kept, patient, fragile, wakeful].filter((one) => one !== undefined)
    if (all.length > 0) await stack.api.call('deleteInstances', { body: all.map(({ uuid }) => ({ uuid })) })
  })

  /**
   * Waits until both the command and the Web UI say what is expected. Returns what the command wrote to
   * stderr.
   */
  async function said(
    instance: { readonly uuid: string },
    expected: { readonly command: string; readonly next: string; readonly webUi: readonly string[] },
  ): Promise<string> {
    const wanted = new RegExp(`^${expected.command}\\.\nnext: ${expected.next}`)
    let told = { stdout: '', stderr: '' }
    await until(
      'the command says so',
      async () => wanted.test((told = await roost(stack, 'explain', instance.uuid)).stdout),
      { limitMs: seenLimitMs },
    ).catch((cause: unknown) => assert.match(told.stdout, wanted, String(cause)))
    let details = ''
    for (const part of expected.webUi.map((each) => new RegExp(each))) {
      await until(
        'the Web UI says so',
        async () => part.test((details = await currentDetailsOf(stack, instance.uuid))),
        { limitMs: seenLimitMs },
      ).catch((cause: unknown) => assert.match(details, part, String(cause)))
    }
    return told.stderr
  }

  it('say of an instance that is used that traffic keeps it awake', async () => {
    const socket = await names.websocket(`wss://${kept.host}/ws`)
    await said(kept, {
      command: `kept is awake since ${time}, because of traffic: 1 request is there`,
      next: 'standby 400 ms after the last of it',
      webUi: [
        `^kept: \\*\\*running\\*\\* since ${time}, .*; its host has not yet told that nothing asked for it for 0.4 s`,
      ],
    })
    socket.close()
  })

  it('say where a sleeping instance has its memory', async () => {
    const { snapshot } = await untilAsleep(stack, kept.uuid)
    await said(kept, {
      command: `kept is asleep since ${time}, because nothing asked for it for 400 ms; its memory is kept in snapshot ${snapshot?.uuid}`,
      next: 'a request, a connection or a start by hand wakes it',
      webUi: [
        `^kept: \\*\\*standby\\*\\* since ${time}, because nothing asked for it, its memory is kept in snapshot ${snapshot?.uuid}`,
        'next: nothing, until traffic or a start wakes it',
      ],
    })
  })

  it('say of an unused instance when it goes to standby', async () => {
    await said(patient, {
      command: `patient is awake, and nothing has asked for it since ${time}`,
      next: `standby at ${time}, unless something asks for it`,
      webUi: [
        '; its host has not yet told that nothing asked for it for 3600 s',
        'next: standby when nothing has asked for it for 3600 s',
      ],
    })
  })

  it('say of an instance that blocks standby that it does', async () => {
    await said(wakeful, {
      command: `wakeful is awake since ${time}, because it wants to: its scale_to_zero_disable count is above 0`,
      next: 'it stays awake until that count is 0 again',
      webUi: ['; kept awake by itself: its scale_to_zero_disable count is above 0'],
    })
  })

  it('say what a draining instance waits for, and how a stopped one ended', async () => {
    const socket = await names.websocket(`wss://${patient.host}/ws`)
    await stack.api.one('stopInstances', { object: patient.uuid, body: { drain_timeout_ms: 300_000 } })
    await said(patient, {
      command: 'patient is draining, as asked: nothing new gets there, and 1 request is there',
      next: 'it is shut down when nothing is connected any more',
      webUi: [
        '^patient: \\*\\*draining\\*\\* as asked',
        `next: shut down when nothing is connected, at the latest ${time}`,
      ],
    })
    socket.close()
    await waitFor(stack.api, patient.uuid, 'stopped')
    await said(patient, {
      command: `patient is stopped since ${time}, with stop reason 15 and exit code 0`,
      next: 'nothing, until it is started; traffic does not start it',
      webUi: [
        `^patient: \\*\\*stopped\\*\\* at ${time}, stop reason 15`,
        'next: nothing, until it is started',
      ],
    })
  })

  it('say where an instance starts, also while that host does not answer', async () => {
    const agent = stack.pidOf('agent')
    process.kill(agent, 'SIGSTOP')
    try {
      await stack.api.one('startInstances', { object: patient.uuid })
      const beside = await said(patient, {
        command: 'patient is starting on host local',
        next: 'it runs as soon as its application is entered',
        webUi: ['^patient: \\*\\*starting\\*\\* as asked', 'next: host local brings it up'],
      })
      assert.match(beside, /host local does not answer; this is what is recorded/)
    } finally {
      process.kill(agent, 'SIGCONT')
    }
    await waitFor(stack.api, patient.uuid, 'running')
  })

  it('say why an instance could not be woken, and when the wake is tried again', async () => {
    await untilAsleep(stack, fragile.uuid)
    await said(fragile, {
      command: `fragile is asleep since ${time}, because nothing asked for it for 400 ms; it was shut down`,
      next: 'a request, a connection or a start by hand wakes it',
      webUi: [`^fragile: \\*\\*standby\\*\\* since ${time}, because nothing asked for it\n`],
    })
    const putBack = await hideImage(stack, fragile.uuid)
    try {
      const refused = await names.get(`https://${fragile.host}/`)
      assert.equal(refused.status, 503, refused.text)
      assert.match(String(refused.headers['retry-after']), /^\d+$/)
      await said(fragile, {
        command: 'fragile is asleep, because it could not be woken',
        next: `requests are refused until ${time}; the first one after that tries again, as does a start by hand\nthe last try failed: .`,
        webUi: ['^fragile: \\*\\*standby\\*\\*', 'the last try failed: .'],
      })
      assert.notEqual((await viewOf(stack.api, fragile.uuid)).failure, undefined)
    } finally {
      putBack()
    }
    await until('it is woken', async () => (await names.get(`https://${fragile.host}/`)).status === 200, {
      limitMs: 60_000,
    })
  })
})

/**
 * Takes the instance's image away from its host and from the registry; what other images share stays. Returns
 * a function that puts it back.
 */
async function hideImage(stack: Stack, uuid: string): Promise<() => void> {
  const { image = '' } = await viewOf(stack.api, uuid)
  const [app = '', digest = ''] = image.split('@')
  const onHost = path.join(stack.dataDir, 'agent', 'images', digest.replace(':', '-'))
  const repositories = path.join(
    stack.dataDir,
    'registry',
    'storage',
    'docker',
    'registry',
    'v2',
    'repositories',
  )
  // Only its manifest is taken away. Without the whole repository, the next collection would delete the
  // blobs.
  const revisions = path.join(repositories, 'official', app, '_manifests', 'revisions')
  const inRegistry = path.join(revisions, ...digest.split(':'), 'link')
  const moved = [onHost, inRegistry].map((from) => {
    assert.ok(existsSync(from), `${from} is not among ${readdirSync(path.dirname(from)).join(', ')}`)
    const to = path.join(stack.dataDir, `hidden-${path.basename(from)}`)
    renameSync(from, to)
    return { from, to }
  })
  return () => {
    for (const { from, to } of moved) renameSync(to, from)
  }
}
