import assert from 'node:assert/strict'
import { open, readdir } from 'node:fs/promises'
import path from 'node:path'
import type { FailedEntry } from '../../src/contract/envelope.ts'
import type { Entry } from '../support/api-client.ts'
import { logOf, runInstance, viewOf, waitFor } from '../support/instances.ts'
import { virtualMachinesOf } from '../support/processes.ts'
import { publish, untilAsleep } from '../support/published-instance.ts'
import { roost } from '../support/roost-command.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

type VolumeView = Entry<'getVolumes'>

const limitMs = 60_000
/** The number of power failures in a row. */
const failures = 4

describe('volumes', function () {
  let stack: Stack
  const made: { readonly instances: string[]; readonly volumes: string[] } = { instances: [], volumes: [] }

  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await sharedStack()
  })
  afterEach(async () => {
    for (const uuid of made.instances.splice(0)) await stack.api.attempt('deleteInstances', { object: uuid })
    for (const uuid of made.volumes.splice(0)) await stack.api.attempt('deleteVolumes', { object: uuid })
  })

  const volumeView = (object: string): Promise<VolumeView> => stack.api.one('getVolumes', { object })
  const newVolume = async (sizeMb = 32): Promise<string> => {
    const { uuid } = await stack.api.one('createVolumes', { body: { size_mb: sizeMb } })
    made.volumes.push(uuid)
    await until('it is available', async () => (await volumeView(uuid)).state === 'available', { limitMs })
    return uuid
  }
  /** Runs the script in a shell of an instance that has the volume at /data. */
  const shell = async (script: string, wishes: Readonly<Record<string, unknown>>): Promise<string> => {
    const { uuid } = await runInstance(stack.api, {
      image: 'busybox',
      args: ['sh', '-c', `${script}; sleep 100000`],
      ...wishes,
    })
    made.instances.push(uuid)
    return uuid
  }
  const says = (uuid: string, text: RegExp) =>
    until(`${uuid} says ${text}`, async () => text.exec(await logOf(stack.api, uuid)) ?? false, { limitMs })
  const stop = async (uuid: string): Promise<void> => {
    await stack.api.one('stopInstances', { object: uuid })
    await waitFor(stack.api, uuid, 'stopped')
  }
  const start = (uuid: string) =>
    stack.api.one('startInstances', { object: uuid, body: { wait_timeout_ms: limitMs } })
  const refusal = async (answer: Promise<{ readonly entries: readonly unknown[] }>): Promise<string> => {
    const [entry] = (await answer).entries
    assert(typeof entry === 'object' && entry !== null && 'message' in entry, JSON.stringify(entry))
    return (entry as FailedEntry).message
  }
  const powerFailure = async (uuid: string): Promise<void> => {
    for (const { pid } of virtualMachinesOf(uuid)) process.kill(pid, 'SIGKILL')
    await waitFor(stack.api, uuid, 'stopped')
  }

  it('keep what was written through a kill -9 of the VM and through a stop', async () => {
    const volume = await newVolume()
    const uuid = await shell('echo boot >> /data/boots; sync; echo "boots: $(wc -l < /data/boots)"', {
      volumes: [{ uuid: volume, at: '/data' }],
    })
    await says(uuid, /boots: 1/)
    await powerFailure(uuid)
    await start(uuid)
    await says(uuid, /boots: 2/)
    await stop(uuid)
    await start(uuid)
    await says(uuid, /boots: 3/)
    assert.equal((await volumeView(volume)).state, 'mounted')
  })

  it('move to another instance by detach and attach, read-only where that is said', async () => {
    const volume = await newVolume()
    const writer = await shell('echo treasure > /data/chest; echo written', {
      volumes: [{ uuid: volume, at: '/data' }],
    })
    await says(writer, /written/)
    assert.match(await refusal(stack.api.attempt('detachVolumes', { object: volume })), /stop/i)
    assert.match(await refusal(stack.api.attempt('deleteVolumes', { object: volume })), /detach/i)
    await stop(writer)
    await stack.api.one('detachVolumes', { object: volume })
    const reader = await shell(
      'cat /deep/inside/chest; touch /deep/inside/x || echo no write; mount -o remount,rw /deep/inside || echo no remount',
      { autostart: false, wait_timeout_ms: 0 },
    )
    await stack.api.one('attachVolumes', {
      object: volume,
      body: { attach_to: { uuid: reader }, at: '/deep/inside', readonly: true },
    })
    assert.deepEqual((await viewOf(stack.api, reader)).volumes, [
      { uuid: volume, name: (await volumeView(volume)).name, at: '/deep/inside', readonly: true },
    ])
    assert.equal((await volumeView(volume)).state, 'idle')
    await start(reader)
    await says(reader, /treasure[^]*no write[^]*no remount/)
    const { mounted_by: mountedBy } = await volumeView(volume)
    assert.deepEqual(
      mountedBy?.map(({ uuid, readonly }) => [uuid, readonly]),
      [[reader, true]],
    )
    await stop(reader)
    await stack.api.one('detachVolumes', { object: volume })
    assert.equal((await volumeView(volume)).state, 'available')
  })

  it('lose nothing that was synced, and mount again, after power failures in the middle of writes', async () => {
    const volume = await newVolume()
    const uuid = await shell(
      'n=$(cat /data/count 2>/dev/null || echo 0); echo "found $n"; while true; do n=$((n+1)); ' +
        'dd if=/dev/zero of=/data/noise bs=64k count=20 2>/dev/null; echo $n > /data/new; sync; mv /data/new /data/count; sync; echo "synced $n"; done',
      { volumes: [{ uuid: volume, at: '/data' }] },
    )
    for (let boot = 0; boot < failures; boot++) {
      const before = (await logOf(stack.api, uuid)).length
      await until(
        'some rounds are synced',
        async () => ((await logOf(stack.api, uuid)).slice(before).match(/synced/g)?.length ?? 0) > 2,
        { limitMs },
      )
      await powerFailure(uuid)
      const synced = Number([...(await logOf(stack.api, uuid)).matchAll(/^synced (\d+)$/gm)].at(-1)?.[1])
      await start(uuid)
      await until('it looked', async () => found(await logOf(stack.api, uuid)).length > boot + 1, { limitMs })
      const seen = found(await logOf(stack.api, uuid)).at(-1) ?? -1
      assert(seen >= synced, `synced ${synced}, found ${seen}`)
    }
  })

  it('made with an instance go with it, unless they were detached before', async () => {
    const uuid = await shell('echo ready', { volumes: [{ size_mb: 16, at: '/data' }] })
    const own = (await viewOf(stack.api, uuid)).volumes?.[0]
    assert(own !== undefined)
    assert.match(own.name, /^vol-[a-z0-9]{5}$/)
    assert.equal((await volumeView(own.uuid)).persistent, false)
    await stack.api.one('deleteInstances', { object: uuid })
    assert.match(await refusal(stack.api.attempt('getVolumes', { object: own.uuid })), /No volume/)
    await until('its file is gone', async () => !(await volumeFiles(stack)).includes(own.uuid), { limitMs })
  })

  it('of a deleted instance can be attached to the next at once', async () => {
    const volume = await newVolume()
    const first = await shell('echo one > /data/file; sync; echo done', {
      volumes: [{ uuid: volume, at: '/data' }],
    })
    await says(first, /done/)
    await stack.api.one('deleteInstances', { object: first })
    const second = await shell('cat /data/file', { volumes: [{ uuid: volume, at: '/data' }] })
    await says(second, /one/)
  })

  it('are not mounted over a directory that has files, and say so', async () => {
    const volume = await newVolume()
    const { uuid } = await stack.api.one('createInstances', {
      body: { image: 'busybox', args: ['true'], volumes: [{ uuid: volume, at: '/bin' }], autostart: true },
    })
    made.instances.push(uuid)
    await says(uuid, /\/bin.*empty/)
    await waitFor(stack.api, uuid, 'stopped')
    const { stdout } = await roost(stack, 'explain', uuid)
    assert.match(stdout, /\/bin/)
  })

  it('that are damaged say so, stay untouched, and can be repaired', async () => {
    const volume = await newVolume()
    const uuid = await shell('echo hello > /data/file; sync; echo done', {
      volumes: [{ uuid: volume, at: '/data' }],
    })
    await says(uuid, /done/)
    await stop(uuid)
    // The first superblock is overwritten. A repair uses its copies.
    const file = await open(path.join(stack.dataDir, 'agent', 'volumes', volume, 'volume.img'), 'r+')
    await file.write(Buffer.alloc(1024), 0, 1024, 1024)
    await file.close()
    await stack.api.attempt('startInstances', { object: uuid, body: { wait_timeout_ms: 20_000 } })
    const damaged = await until(
      'the volume is in error',
      async () => {
        const view = await volumeView(volume)
        return view.state === 'error' && view
      },
      { limitMs },
    )
    assert.match(damaged.reason ?? '', /\w+ \w+/)
    await waitFor(stack.api, uuid, 'stopped')
    await roost(stack, 'volume', 'repair', volume)
    await until('it is repaired', async () => (await volumeView(volume)).state === 'idle', { limitMs })
    const before = (await logOf(stack.api, uuid)).length
    await start(uuid)
    await until('it runs again', async () => /done/.test((await logOf(stack.api, uuid)).slice(before)), {
      limitMs,
    })
  })

  describe('of an instance that keeps its memory asleep', () => {
    it('stay with it until it is stopped, and keep all that it wrote', async () => {
      const volume = await newVolume()
      const web = await publish(stack, 'keeper', {
        image: 'busybox',
        args: ['sh', '-c', 'echo $RANDOM > /data/kept; while true; do nc -l -p 8080 -e echo hi; done'],
        volumes: [{ uuid: volume, at: '/data' }],
        scale_to_zero: { policy: 'on', cooldown_time_ms: 300, stateful: true },
      })
      made.instances.push(web.uuid)
      const asleep = await untilAsleep(stack, web.uuid)
      assert(asleep.snapshot?.uuid)
      assert.equal((await volumeView(volume)).state, 'mounted')
      assert.match(await refusal(stack.api.attempt('detachVolumes', { object: volume })), /stop/i)
      await stop(web.uuid)
      await stack.api.one('detachVolumes', { object: volume })
      // The application never synced the file, and the instance's memory is gone. The data was written to
      // disk before the instance slept.
      const reader = await shell('echo "kept: $(wc -c < /data/kept)"', {
        volumes: [{ uuid: volume, at: '/data' }],
      })
      await says(reader, /kept: [2-6]/)
    })
  })
})

function found(log: string): readonly number[] {
  return [...log.matchAll(/^found (\d+)$/gm)].map((match) => Number(match[1]))
}

async function volumeFiles(stack: Stack): Promise<readonly string[]> {
  return readdir(path.join(stack.dataDir, 'agent', 'volumes')).catch(() => [])
}
