/**
 * Run by a keeper in place of QEMU: its snapshot is loaded at once, and its CPUs run. Its guest begins to listen after a while in
 * which a keeper that does not wait would have said that it runs. What comes after another while is its first argument: `awake`,
 * `exit`, `panic` or `nothing`.
 */
import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { keeperFd } from '../../src/host/vmm/command-line.ts'

const silenceMs = 300
const control = new Socket({ fd: keeperFd.control })
const monitor = new Socket({ fd: keeperFd.monitor })

async function goOn(): Promise<void> {
  monitor.write('{"event": "RESUME"}\n')
  await delay(silenceMs)
  control.write('listen\n')
  await delay(silenceMs)
  const [, , says] = process.argv
  if (says === 'awake') control.write('awake\n')
  if (says === 'exit') control.write('exit code 0 oom 0 killed 0 output 0\n')
  if (says === 'panic')
    monitor.write('{"event": "SHUTDOWN", "data": {"guest": true, "reason": "guest-panic"}}\n')
}

monitor.on('data', (bytes: Buffer) => {
  const commands = bytes.toString()
  if (commands.includes('migrate-incoming')) {
    monitor.write('{"event": "MIGRATION", "data": {"status": "completed"}}\n')
  }
  if (commands.includes('"cont"')) void goOn()
})
control.resume()
monitor.write('{"QMP": {}}\n')
