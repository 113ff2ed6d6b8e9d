import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { inTime } from '../support/in-time.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { untilAsleep } from '../support/published-instance.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { addMember, askInTurns, cold, kept, openLines, talk, verifyMembers } from './fleet.ts'
import type { LineClient, Member } from './fleet.ts'
import { watchVirtualMachines } from '../support/virtual-machine-watch.ts'
import type { VirtualMachineWatch } from '../support/virtual-machine-watch.ts'

const parts = ['gateway', 'agent', 'worker', 'api', 'postgres', 'temporal'] as const
/** Longer than an instance takes to wake and to sleep again. */
const trafficAfterMs = 1_500

describe('a part that is killed with -9 while instances go to sleep and are woken', function () {
  let stack: Stack
  let names: PublicNames
  let watch: VirtualMachineWatch
  let members: readonly Member[] = []
  let connected: Member
  let lines: LineClient
  let socket: WebSocket
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
    watch = watchVirtualMachines(stack.dataDir)
    const made = [
      addMember({ stack, names }, 'cold-one', { scale_to_zero: cold }),
      addMember({ stack, names }, 'cold-two', { scale_to_zero: cold }),
      addMember({ stack, names }, 'kept-one', { scale_to_zero: kept }),
      addMember({ stack, names }, 'kept-two', { scale_to_zero: kept }),
    ]
    members = await Promise.all(made)
    connected = await addMember({ stack, names }, 'connected', { scale_to_zero: cold })
    await reconnect()
  })
  after(async () => {
    lines?.close()
    socket?.close()
    if (names !== undefined) await inTime('the client closes its connections', names.close())
    if (watch !== undefined) await inTime('the watch of the VMs ends', watch.close())
    await stack?.api.call('deleteInstances', { body: [...members, connected].map(({ uuid }) => ({ uuid })) })
  })

  async function reconnect(): Promise<void> {
    lines = await openLines(names, members[2]!)
    const opening = names.websocket(`wss://${connected.host}/ws`)
    socket = await inTime(`${connected.name} takes a WebSocket`, opening)
  }

  for (const part of parts) {
    it(`loses no request and no memory, and only the gateway loses connections: ${part}`, async () => {
      const [coldOne, coldTwo, keptOne, keptTwo] = members as [Member, Member, Member, Member]
      await lines.say('before')
      await Promise.all([coldOne, keptOne].map(async ({ uuid }) => await untilAsleep(stack, uuid)))
      // These two instances go to sleep at about the same time as the other two are woken.
      await Promise.all([coldTwo.ask(), keptTwo.ask()])
      await delay(300)
      const over = new AbortController()
      const asked = Promise.all(
        members.map(async (member, index) => {
          if (index === 1 || index === 3) await delay(400)
          await askInTurns(member, over.signal, () => 600 + index * 150)
        }),
      )
      asked.catch(() => undefined)
      await delay(50)
      await stack.killPart(part)
      await delay(trafficAfterMs)
      over.abort()
      await asked
      if (part === 'gateway') await reconnect()
      await lines.say('after')
      await talk(socket, 'still here')
      await verifyMembers(stack, members)
      assert.equal((await connected.view()).start_count, 1)
      watch.verify()
    })
  }

  it('loses no memory in the middle of suspends and restores: agent', async () => {
    const both = members.slice(2)
    for (const momentMs of [5, 40]) {
      await Promise.all(both.map(async (member) => await member.ask()))
      await stack.killPart('agent')
      await delay(momentMs)
    }
    await verifyMembers(stack, members)
    watch.verify()
  })
})
