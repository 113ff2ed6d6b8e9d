import { Connection } from '@temporalio/client'
import { chmod } from 'node:fs/promises'
import type { Part } from './part.ts'
import { untilSucceeds } from './readiness.ts'
import { readDynamicConfig, readNamespaceConfig } from './temporal-config.ts'
import { registerNamespace } from './temporal-registration.ts'

export interface EmbeddedTemporal {
  /** The Temporal CLI. */
  readonly program: string
  readonly databaseFile: string
  readonly port: number
  readonly uiPort: number
  readonly namespace: string
}

/** The dev server with its Web UI: one process, a database file, the same settings as the production server. */
export function temporalPart(options: EmbeddedTemporal): Part {
  const address = `127.0.0.1:${options.port}`
  return {
    name: 'temporal',
    program: options.program,
    args: devServerArgs(options),
    // The CLI keeps a configuration below the home directory; what stands there is not ours.
    env: { TEMPORAL_DISABLE_CONFIG_FILE: 'true' },
    stopSignal: 'SIGINT',
    stopLimitMs: 5_000,
    ready: (signal) => untilSucceeds(() => checkTemporal(address), signal),
    async afterFirstReady() {
      // It names every user and instance. The server makes its tables only where there is no file yet, so not earlier.
      await chmod(options.databaseFile, 0o600)
      await registerNamespace({ address, namespace: options.namespace, config: readNamespaceConfig() })
    },
  }
}

export function devServerArgs(options: EmbeddedTemporal): readonly string[] {
  const flags = {
    '--ip': '127.0.0.1',
    '--port': options.port,
    '--ui-port': options.uiPort,
    '--db-filename': options.databaseFile,
    '--log-level': 'warn',
    '--log-format': 'json',
  }
  return [
    'server',
    'start-dev',
    ...Object.entries(flags).flatMap(([flag, value]) => [flag, String(value)]),
    ...readDynamicConfig().flatMap(({ key, json }) => ['--dynamic-config-value', `${key}=${json}`]),
  ]
}

async function checkTemporal(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 })
  try {
    await connection.withDeadline(Date.now() + 2_000, () => connection.workflowService.getSystemInfo({}))
  } finally {
    await connection.close()
  }
}
