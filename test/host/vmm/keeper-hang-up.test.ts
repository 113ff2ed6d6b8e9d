import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connectKeeper } from '../../../src/host/vmm/keeper-link.ts'
import { findEvent } from '../../../src/host/vmm/vm-events.ts'
import { until } from '../../support/until.ts'
import { KeeperScene } from './keeper-scene.ts'
import type { StandInVm } from './keeper-scene.ts'

const limit = { limitMs: 60_000 }
const watchedMs = 500
/**
 * The most ticks of processor time in `watchedMs`; a tick is 10 ms. A keeper that polls without a pause uses
 * all that it can get.
 */
const mostTicks = 3
/** More bytes than a socket and its reader take at once. */
const config = Buffer.alloc(2 * 1024 * 1024, 'x')

/** The ticks of user and kernel together. The name of the command, in parentheses, may hold anything. */
function ticksOf({ pid }: StandInVm): number {
  const [, rest = ''] = /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
  const [user, kernel] = rest.split(' ').slice(11, 13).map(Number)
  return (user ?? Number.NaN) + (kernel ?? Number.NaN)
}

describe('the keeper of a VMM that closes its channels', () => {
  const scene = new KeeperScene()

  for (const channels of ['control', 'monitor', 'both', 'half', 'unheard'])
    it(`does not spin, and obeys: ${channels}`, async () => {
      const says = ['leave', channels]
      const unread = channels === 'unheard' ? { config } : {}
      const vm = await scene.start({ name: channels, says, ...unread })
      const log = path.join(vm.directory, 'vmm.log')
      await until('it has left', () => readFileSync(log, 'utf8').includes('it has left'), limit)
      const before = ticksOf(vm)
      await delay(watchedMs)
      const used = ticksOf(vm) - before
      assert.ok(used <= mostTicks, `${used} ticks in ${watchedMs} ms`)
      const link = await until('the keeper accepts', async () => await connectKeeper(vm.directory), limit)
      link.command('kill forced')
      await until('it ends', () => findEvent(vm.events(), 'ended'), limit)
    })
})
