import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'

/**
 * Who may connect to the embedded Temporal. Temporal's dev server does not authenticate its clients: every
 * client can read all histories and end all workflows. So the packet filter admits connections by the user
 * of the connecting process, and only those users that need Temporal.
 */
export interface TemporalAccess {
  /**
   * The data directory. The filter's table is named after it, so each data directory has a table of its own.
   */
  readonly dataDir: string
  readonly port: number
  readonly uiPort: number
  /** The uids of the users that may connect. Root may always connect. */
  readonly users: readonly number[]
  /** The uids of the users that may open the Web UI. Root may always open it. */
  readonly uiUsers: readonly number[]
}

/**
 * Loads the filter, which replaces a filter of an earlier start. Throws if the machine's packet filter does
 * not support it.
 */
export async function closeTemporal(access: TemporalAccess): Promise<void> {
  await nft(temporalFilter(access))
}

/** Removes the filter, because another program may use the filtered ports next. */
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
