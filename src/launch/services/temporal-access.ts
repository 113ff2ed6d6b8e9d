import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'

/**
 * Temporal's dev server asks nobody who he is: whoever connects reads every history and may end every
 * workflow. So the packet filter lets only those connect that have to: by the user whom a connecting process
 * runs as.
 */
export interface TemporalAccess {
  /** Names the filter's table: one per data directory. */
  readonly dataDir: string
  readonly port: number
  readonly uiPort: number
  /** Numbers of the users that may connect; root may in any case. */
  readonly users: readonly number[]
  /** The same for the Web UI. */
  readonly uiUsers: readonly number[]
}

/** Throws where the machine has no packet filter that can do it. Replaces what an earlier start left. */
export async function closeTemporal(access: TemporalAccess): Promise<void> {
  await nft(temporalFilter(access))
}

/** Takes the filter away: its ports may be somebody else's next. */
export async function reopenTemporal(access: Pick<TemporalAccess, 'dataDir'>): Promise<void> {
  const table = tableOf(access)
  await nft(`table inet ${table}\ndelete table inet ${table}\n`)
}

export function temporalFilter(access: TemporalAccess): string {
  const table = tableOf(access)
  const only = (users: readonly number[]) => `{ ${[...new Set([0, ...users])].join(', ')} }`
  return [
    `table inet ${table}`,
    `delete table inet ${table}`,
    `table inet ${table} {`,
    'chain connect { type filter hook output priority 0; policy accept;',
    `  oifname "lo" tcp dport ${access.port} meta skuid != ${only(access.users)} reject with tcp reset`,
    `  oifname "lo" tcp dport ${access.uiPort} meta skuid != ${only(access.uiUsers)} reject with tcp reset`,
    '}',
    '}',
    '',
  ].join('\n')
}

function tableOf({ dataDir }: Pick<TemporalAccess, 'dataDir'>): string {
  return `roost_temporal_${createHash('sha256').update(dataDir).digest('hex').slice(0, 8)}`
}

async function nft(program: string): Promise<void> {
  const child = spawn('nft', ['-f', '-'], { stdio: ['pipe', 'ignore', 'pipe'] })
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint += String(chunk)))
  child.stdin.on('error', () => undefined)
  child.stdin.end(program)
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`nft: ${complaint.trim().split('\n')[0] || `code ${code}`}`)
}
