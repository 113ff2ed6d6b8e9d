import { connect } from 'node:net'
import { PortState } from '../domain/certificate/attempt-report.ts'

export const connectTimeoutMs = 3_000

/** Tests whether something accepts a connection; nothing is sent. Never rejects. */
export async function checkPort(address: string, port: number, signal: AbortSignal): Promise<PortState> {
  if (signal.aborted) return PortState.NotAsked
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: connectTimeoutMs, signal })
    const done = (state: PortState) => {
      socket.destroy()
      resolve(state)
    }
    socket.once('connect', () => done(PortState.Open))
    socket.once('timeout', () => done(PortState.Timeout))
    socket.once('error', (error) => done(closedStateOf(error) ?? PortState.Unreachable))
  })
}

const closedStates: Readonly<Record<string, PortState>> = {
  ECONNREFUSED: PortState.Refused,
  ETIMEDOUT: PortState.Timeout,
  UND_ERR_CONNECT_TIMEOUT: PortState.Timeout,
  ABORT_ERR: PortState.Timeout,
  EHOSTUNREACH: PortState.Unreachable,
  ENETUNREACH: PortState.Unreachable,
  EADDRNOTAVAIL: PortState.Unreachable,
  EACCES: PortState.Unreachable,
  EPERM: PortState.Unreachable,
}

/** Returns undefined for an error that comes only after a connection was made. */
export function closedStateOf(error: unknown): PortState | undefined {
  return closedStates[(error as NodeJS.ErrnoException).code ?? '']
}
