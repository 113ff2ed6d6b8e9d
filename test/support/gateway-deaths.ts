import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { servingProcesses } from './gateway-scene.ts'
import type { Stack } from './stack.ts'
import { until } from './until.ts'

const limitMs = 120_000

/** Where the gateway of a stack tells its health and its metrics. */
export function gatewayMetrics(stack: Stack): string {
  const text = readFileSync(path.join(stack.dataDir, 'ports.json'), 'utf8')
  return `http://127.0.0.1:${(JSON.parse(text) as { gateway: number }).gateway}`
}

/** Kills a serving process of the gateway, and resolves when another one serves in its place. */
export async function killServing(stack: Stack): Promise<void> {
  const serving = (): readonly number[] => servingProcesses(stack.pidOf('gateway'))
  const [victim] = serving()
  assert.ok(victim !== undefined, 'there is a serving process')
  process.kill(victim, 'SIGKILL')
  await until(
    'another serving process is ready',
    async () => {
      const now = serving()
      return now.length > 0 && !now.includes(victim) && (await fetch(`${gatewayMetrics(stack)}/readyz`)).ok
    },
    { limitMs },
  )
}
