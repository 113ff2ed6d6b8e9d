import { connect } from 'node:net'
import type { InstanceView } from './instances.ts'
import { until } from './until.ts'

export const shellPort = 2323
const commandLimitMs = 60_000

/** An instance of busybox that serves its shell on a port, so that the test and its peers can use it. */
export const servedShell = { image: 'busybox', args: ['nc', '-ll', '-p', String(shellPort), '-e', 'sh'] }

export async function shellAnswers(guest: InstanceView): Promise<void> {
  const answers = async (): Promise<boolean> => (await sh(guest, 'echo up').catch(() => '')).includes('up')
  await until('its shell answers', answers, { limitMs: commandLimitMs })
}

/** What a guest's shell prints, and how the command ended. */
export async function sh(guest: InstanceView, command: string): Promise<string> {
  const socket = connect({ host: String(guest.private_ip), port: shellPort })
  socket.setTimeout(commandLimitMs, () => socket.destroy(new Error(`no end of '${command}'`)))
  socket.write(`(${command}) 2>&1; echo "ended $?"; exit\n`)
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text
}

/** What a guest reads when it asks the shell of another instance for its name, and how the try ended. */
export async function asksShell(from: InstanceView, to: string, limitS: number): Promise<string> {
  return await sh(from, `echo hostname | nc -w${limitS} ${to} ${shellPort}`)
}
