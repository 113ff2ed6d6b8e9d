import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { WebSocket } from 'ws'
import { breakWhenSilent } from '../../../src/commands/instance/exec-socket.ts'

const lookEveryMs = 40

class FakeSocket extends EventEmitter<{ ping: []; message: []; close: [] }> {
  isPaused = false
  terminate(): void {
    this.emit('close')
  }
}

function watched(): FakeSocket {
  const socket = new FakeSocket()
  breakWhenSilent(socket as unknown as WebSocket, lookEveryMs)
  return socket
}

async function breaks(socket: FakeSocket, withinMs: number): Promise<boolean> {
  return await once(socket, 'close', { signal: AbortSignal.timeout(withinMs) }).then(
    () => true,
    () => false,
  )
}

describe('a connection to an instance', () => {
  it('is broken off when the API is silent for long', async () => {
    assert.ok(await breaks(watched(), 60 * lookEveryMs))
  })

  it('goes on while pings or messages come, and while its output is not read', async () => {
    for (const news of ['ping', 'message'] as const) {
      const socket = watched()
      const timer = setInterval(() => socket.emit(news), lookEveryMs / 4)
      assert.ok(!(await breaks(socket, 8 * lookEveryMs)))
      clearInterval(timer)
      socket.emit('close')
    }
    const paused = watched()
    paused.isPaused = true
    assert.ok(!(await breaks(paused, 8 * lookEveryMs)))
    paused.emit('close')
  })
})
