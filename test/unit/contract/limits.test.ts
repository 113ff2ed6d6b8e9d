import { strict as assert } from 'node:assert'
import { readFile } from 'node:fs/promises'
import * as limits from '../../../src/contract/limits.ts'
import { maxProcessBytes, maxProcessStringBytes } from '../../../src/domain/process-size.ts'

describe('docs/limits.md', () => {
  const shown: readonly [keyof typeof limits, string][] = [
    ['maxBodyBytes', `body | ${limits.maxBodyBytes / 1_048_576} MiB`],
    ['maxHeaderBytes', `headers | ${limits.maxHeaderBytes / 1_024} KiB`],
    ['maxObjectsPerRequest', `objects of one request | ${limits.maxObjectsPerRequest}`],
    ['maxPageCount', `1 to ${limits.maxPageCount};`],
    ['maxReportedErrors', `errors named in one answer | ${limits.maxReportedErrors}`],
    ['headersTimeoutMs', `send the headers | ${limits.headersTimeoutMs / 1_000} s`],
    ['receiveTimeoutMs', `send the whole request | ${limits.receiveTimeoutMs / 1_000} s`],
    ['handlingTimeoutMs', `wait for a state | ${limits.handlingTimeoutMs / 1_000} s`],
    ['defaultRequestsPerSecond', `${limits.defaultRequestsPerSecond} per second`],
    ['requestBurstSeconds', `${limits.defaultRequestsPerSecond * limits.requestBurstSeconds} at once`],
    ['maxConnections', `connections per API process | ${limits.maxConnections}`],
    ['keepAliveTimeoutMs', `idle connection | ${limits.keepAliveTimeoutMs / 1_000} s`],
    ['maxWaitMs', `(wait) | ${limits.maxWaitMs}`],
    ['maxDrainMs', `\`drain_timeout_ms\` | ${limits.maxDrainMs}`],
    ['maxLogBytes', `at most ${limits.maxLogBytes} bytes of log`],
    ['defaultLogOffset', `offset ${limits.defaultLogOffset}`],
    ['defaultLogBytes', `limit ${limits.defaultLogBytes}`],
    ['maxReplicas', `\`replicas\` | ${limits.maxReplicas}`],
    ['maxArguments', `${limits.maxArguments} arguments of ${limits.maxArgumentLength}`],
    ['maxEnvVariables', `${limits.maxEnvVariables} variables`],
    ['maxImageReferenceLength', `\`image\` | ${limits.maxImageReferenceLength}`],
  ]
  it('has the sizes of a process as the hosts have them', async () => {
    const document = await readFile('docs/limits.md', 'utf8')
    assert.ok(document.includes(`one of them ${maxProcessStringBytes} bytes`))
    assert.ok(document.includes(`all together ${maxProcessBytes} bytes`))
  })
  for (const [name, text] of shown) {
    it(`has ${name} as the code has it`, async () => {
      const document = await readFile('docs/limits.md', 'utf8')
      assert.ok(document.includes(text), text)
    })
  }
})
