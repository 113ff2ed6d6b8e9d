import { strict as assert } from 'node:assert'
import type { RawAnswer, RawCall, TestApi, TestUser } from './api-server.ts'

/**
 * Sends a request like the SDK in Go: it always announces JSON, never says what it accepts, closes each
 * connection, and accepts only status 200.
 */
export async function sendAsGoSdk(
  api: Pick<TestApi, 'send'>,
  user: Pick<TestUser, 'token'>,
  call: Pick<RawCall, 'method' | 'path' | 'body'>,
): Promise<RawAnswer> {
  const answer = await api.send({
    ...call,
    token: user.token,
    headers: {
      'content-type': 'application/json',
      connection: 'close',
      'user-agent': 'Go-http-client/1.1',
    },
  })
  assert.equal(answer.status, 200, answer.text)
  const [key, ...others] = Object.keys(answer.json.data)
  assert.deepEqual(others, [])
  assert.ok(Array.isArray(answer.json.data[key!]))
  assertDecodes(answer.json.data[key!])
  return answer
}

/**
 * Checks for what breaks the decoders of released clients: negative or fractional numbers, a message in an
 * entry that succeeded, a time that is not in whole seconds of UTC.
 */
function assertDecodes(entries: readonly Readonly<Record<string, unknown>>[]): void {
  for (const entry of entries) {
    if (entry['status'] === 'success') assert.ok(!('message' in entry))
    if (entry['status'] === 'error') assert.ok(Number.isInteger(entry['error']))
    for (const [key, value] of Object.entries(entry)) {
      if (typeof value === 'number') assert.ok(Number.isInteger(value) && value >= 0, `${key} ${value}`)
      if (key.endsWith('_at')) assert.match(String(value), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    }
    const scaleToZero = entry['scale_to_zero']
    if (scaleToZero !== undefined) {
      // If one of these keys is missing, the command line panics.
      const keys = Object.keys(scaleToZero as object)
      assert.deepEqual(keys.toSorted(), ['cooldown_time_ms', 'enabled', 'policy', 'stateful'])
    }
  }
}
