import childProcess from 'node:child_process'
import { writeSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

/**
 * A process that does one task with volumes: `node victim.ts <n> <directory> <task>`. It kills itself at its
 * nth point. There is a point before each call of the kernel that is named below, and a point before and
 * after each start of a tool. It exits with 0 if there is no nth point.
 */
const [, , at = '', directory = '', task = ''] = process.argv
let calls = 0

function point(name: string): void {
  calls += 1
  if (calls !== Number(at)) return
  writeSync(1, name)
  process.kill(process.pid, 'SIGKILL')
}

type AnyFunction = (...args: unknown[]) => unknown
function before(of: object, name: string): void {
  const methods = of as Record<string, AnyFunction>
  const original = methods[name]
  methods[name] = function (this: unknown, ...args: unknown[]) {
    point(name)
    return original?.apply(this, args)
  }
}

const probe = await fs.open('/dev/null', 'r')
const fileHandle = Object.getPrototypeOf(probe) as object
await probe.close()
for (const name of ['sync', 'datasync', 'truncate', 'chown', 'write', 'writeFile']) before(fileHandle, name)
for (const name of ['mkdir', 'open', 'rename', 'rm']) before(fs, name)
const { spawn } = childProcess
childProcess.spawn = ((...args: Parameters<typeof spawn>) => {
  point('spawn')
  const child = spawn(...args)
  point('spawned')
  return child
}) as typeof spawn
syncBuiltinESMExports()

const { FileVolumes } = await import('../../../src/host/volumes/file-volumes.ts')
const { imagePath } = await import('../../../src/host/volumes/volume-directory.ts')
const { holdOf, instanceUuid, volumeUuid } = await import('./conformance.ts')
const volumes = await FileVolumes.open({ directory, reserveMb: 0 })
const tasks: Readonly<Record<string, () => Promise<unknown>>> = {
  make: async () => {
    await volumes.make({ uuid: volumeUuid(1), sizeMb: 8 })
  },
  hold: async () => await volumes.hold(holdOf(1, 1)),
  release: async () => {
    await volumes.release(instanceUuid(1))
  },
  repair: async () => {
    await volumes.repair(volumeUuid(1))
  },
  remove: async () => {
    await volumes.remove(volumeUuid(1))
  },
  arrive: async () => {
    const file = await fs.open(await volumes.beginArrival({ uuid: volumeUuid(1), sizeMb: 8 }), 'r+')
    await file.write(await fs.readFile(imagePath(directory, volumeUuid(2))))
    await file.sync()
    await file.close()
    await volumes.finishArrival(volumeUuid(1), instanceUuid(1))
    await volumes.takeArrival(volumeUuid(1), { isHeld: true })
  },
  drop: async () => {
    await volumes.dropArrival(volumeUuid(1))
    await volumes.remove(volumeUuid(1))
  },
  'give-away': async () => {
    await volumes.giveAway(volumeUuid(1), instanceUuid(1))
    await volumes.remove(volumeUuid(1))
  },
}
await tasks[task]?.()
await volumes.close()
