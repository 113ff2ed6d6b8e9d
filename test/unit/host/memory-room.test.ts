import assert from 'node:assert/strict'
import fc from 'fast-check'
import { findMemoryLack, footprintMb, memoryLimitMb } from '../../../src/domain/host/memory-room.ts'
import { MemoryLedger } from '../../../src/host/vmm/memory-ledger.ts'

const host = { totalMb: 4_096, reserveMb: 1_024, overcommit: 1 }

describe('the memory of a host', () => {
  it('counts an instance with its guest, at least what the kernel boots with, and its VMM', () => {
    assert.deepEqual([footprintMb(16), footprintMb(96), footprintMb(4_096)], [160, 160, 4_160])
  })

  it('is promised up to what it has less the reserve, times the overcommit', () => {
    assert.equal(memoryLimitMb(host), 3_072)
    assert.equal(memoryLimitMb({ ...host, overcommit: 1.5 }), 4_608)
    assert.equal(memoryLimitMb({ ...host, reserveMb: 5_000 }), 0)
  })

  it('admits an instance that fits to the last MiB, and refuses a larger one with what is asked, used and there', () => {
    const asked = { memoryMb: 1_024, usedMb: 3_072 - footprintMb(1_024) }
    assert.equal(findMemoryLack(host, asked), undefined)
    assert.equal(
      findMemoryLack(host, { ...asked, usedMb: asked.usedMb + 1 }),
      'the host has no memory left: the instance needs 1088 MiB (1024 and 64 for its VMM), others use 1985 of 3072 MiB ' +
        '(4096 less 1024 for the platform); stop another instance or ask for less memory',
    )
    const shared = findMemoryLack({ ...host, overcommit: 0.5 }, asked)
    assert.match(shared ?? '', /of 1536 MiB \(4096 less 1024 for the platform, times 0.5 by the overcommit\)/)
  })
})

describe('the ledger of memory', () => {
  interface World {
    readonly running: Map<string, { readonly instanceUuid: string; readonly memoryMb: number }>
    templatesMb: number
  }

  function open(world: World): MemoryLedger {
    return new MemoryLedger(host, {
      running: () => world.running.values(),
      templatesMb: () => world.templatesMb,
      dropTemplates: (neededMb) => (world.templatesMb = Math.max(0, world.templatesMb - neededMb)),
    })
  }

  it('drops of templates what a start needs, and no more', () => {
    const world: World = { running: new Map(), templatesMb: 300 }
    open(world).admit('a', 3_072 - footprintMb(0) + 96 - 100)
    assert.equal(world.templatesMb, 100)
  })

  it('has no template made of memory that instances are promised', () => {
    const ledger = open({ running: new Map(), templatesMb: 0 })
    const done = ledger.admit('a', 2_000)
    assert.deepEqual([ledger.hasRoomFor(1_000), ledger.hasRoomFor(900)], [false, true])
    done()
    assert.equal(ledger.hasRoomFor(1_000), true)
  })

  it('never has more admitted than the limit, whatever starts, runs and ends', () => {
    const step = fc.record({
      who: fc.integer({ min: 0, max: 5 }),
      memoryMb: fc.integer({ min: 1, max: 2_000 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const world: World = { running: new Map(), templatesMb: 0 }
        const ledger = open(world)
        const starting = new Map<string, () => void>()
        for (const { who, memoryMb } of steps) {
          const instanceUuid = String(who)
          // Each turn of an instance is its next step. First it is admitted and its VM runs. Then its
          // admission ends and only the VM counts. Then the VM ends.
          if (starting.has(instanceUuid)) {
            starting.get(instanceUuid)?.()
            starting.delete(instanceUuid)
          } else if (!world.running.delete(instanceUuid)) {
            try {
              starting.set(instanceUuid, ledger.admit(instanceUuid, memoryMb))
              world.running.set(instanceUuid, { instanceUuid, memoryMb })
            } catch {
              assert.ok(!world.running.has(instanceUuid))
            }
          }
          const { instancesMb, limitMb } = ledger.read()
          const expectedMb = [...world.running.values()].reduce(
            (sum, vm) => sum + footprintMb(vm.memoryMb),
            0,
          )
          assert.ok(instancesMb <= limitMb)
          assert.equal(instancesMb, expectedMb)
        }
      }),
    )
  })
})
