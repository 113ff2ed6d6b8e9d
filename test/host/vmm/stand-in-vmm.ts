/**
 * A program that a keeper runs in place of QEMU. Its snapshot is loaded at once, and its CPUs run. Its guest
 * begins to listen after a pause, in which a keeper that does not wait would already say that the guest
 * runs. The first argument says what follows after another pause: `awake`, `exit`, `panic` or `nothing`, or
 * one of these words for a guest or a VMM that breaks the rules:
 *
 * - `shout <rounds>`: the guest says all that a guest can say, in so many rounds and as fast as it is read.
 *   With fewer than 1000 rounds, the VMM also fills its log, which has a bound. Then the guest speaks
 *   against standby, and ends.
 * - `answer`: the guest says that it is ready to sleep before anybody asks, and gives three answers to each
 *   question.
 * - `leave <channels>`: the VMM closes channels, complains in its log, and runs on. It closes the channel
 *   `control`, `monitor` or `both`. With `half` it closes only its own direction of the control channel. With
 *   `unheard` it closes the control channel after it said more than is read at once, and has not read its
 *   configuration.
 * - `last <lines>`: when the VMM gets SIGUSR1, its guest prints so many lines of 64 bytes and ends, and the
 *   VMM ends at once.
 */
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { keeperFd } from '../../../src/host/vmm/command-line.ts'

const silenceMs = 300
/** The number of bytes that a keeper needs some seconds to read. */
const unheardBytes = 65_536
const [, , says, more] = process.argv
const control = new Socket({ fd: keeperFd.control })
const monitor = new Socket({ fd: keeperFd.monitor })

async function goOn(): Promise<void> {
  monitor.write('{"event": "RESUME"}\n')
  await delay(silenceMs)
  control.write('listen\n')
  await delay(silenceMs)
  if (says === 'awake') control.write('awake\n')
  if (says === 'exit') control.write('exit code 0 oom 0 killed 0 output 0\n')
  if (says === 'shout') await shout()
  if (says === 'answer') control.write(`${ready.repeat(3)}disabled 1\n`)
  if (says === 'leave') await leave()
  if (says === 'panic')
    monitor.write('{"event": "SHUTDOWN", "data": {"guest": true, "reason": "guest-panic"}}\n')
}

const ready = 'sleep ready\n'
const everything = `${'disabled 1\ndisabled 0\n'.repeat(16)}${ready}sleep disabled\nready\napp 7\nlisten\nawake\nno word\n`

async function shout(): Promise<void> {
  for (let round = 0; round < Number(more); round += 1) {
    if (!control.write(everything)) await once(control, 'drain')
    if (Number(more) < 1_000) process.stderr.write('what a VMM has to complain about\n'.repeat(20))
  }
  control.write('disabled 1\nexit code 7 oom 0 killed 0 output 0\n')
}

async function leave(): Promise<void> {
  if (more === 'half') await new Promise<void>((resolve) => control.end(resolve))
  if (more === 'unheard') control.write('\n'.repeat(unheardBytes))
  if (more === 'control' || more === 'both' || more === 'unheard') control.destroy()
  if (more === 'monitor' || more === 'both') monitor.destroy()
  process.stderr.write('it has left\n')
  setInterval(() => undefined, 1_000)
}

function printLast(): void {
  const lines = Array.from({ length: Number(more) }, (_, index) => `${String(index).padStart(63, '.')}\n`)
  const text = lines.join('')
  writeSync(keeperFd.log, text)
  writeSync(keeperFd.control, `exit code 0 oom 0 killed 0 output ${text.length}\n`)
  process.exit(0)
}

let questions = 0
function answer(bytes: Buffer): void {
  if (!bytes.toString().includes('sleep?')) return
  control.write(`${ready.repeat(3)}disabled ${questions % 2}\n`)
  questions += 1
}
if (says === 'answer') control.on('data', answer)
if (says === 'last') process.once('SIGUSR1', printLast)
monitor.on('data', (bytes: Buffer) => {
  const commands = bytes.toString()
  if (commands.includes('migrate-incoming')) {
    monitor.write('{"event": "MIGRATION", "data": {"status": "completed"}}\n')
  }
  if (commands.includes('"cont"')) void goOn()
})
monitor.write('{"QMP": {}}\n')
