import { strict as assert } from 'node:assert'
import { readFile } from 'node:fs/promises'
import * as limits from '../../../src/contract/limits.ts'
import { maxKeptAttempts } from '../../../src/db/certificate/attempts.ts'
import { maxCertificatesPerUser } from '../../../src/db/certificate/name.ts'
import {
  adjustmentRange,
  boundRange,
  maxPoliciesPerService,
  maxPolicyNameLength,
  maxStepsPerPolicy,
} from '../../../src/domain/autoscale/steps.ts'
import { maxDomainLength, reservedMetroLabels } from '../../../src/domain/service/domain-name.ts'
import { maxComponentBytes, maxMountPathBytes, reservedPaths } from '../../../src/domain/volume/mount-path.ts'
import { usageSteps } from '../../../src/domain/instance/usage-history.ts'
import { consoleWaitBounds } from '../../../src/host/console/console-waits.ts'
import { maxChainCertificates } from '../../../src/x509/certificate-upload.ts'
import { maxRsaBits, minRsaBits } from '../../../src/x509/private-key.ts'
import { maxProcessBytes, maxProcessStringBytes } from '../../../src/domain/instance/process-size.ts'

describe('docs/limits.md', () => {
  const shown: readonly [keyof typeof limits, string][] = [
    ['maxBodyBytes', `body | ${limits.maxBodyBytes / 1_048_576} MiB`],
    ['maxHeaderBytes', `headers | ${limits.maxHeaderBytes / 1_024} KiB`],
    ['maxObjectsPerRequest', `objects of one request | ${limits.maxObjectsPerRequest}`],
    ['maxChangeIdLength', `\`id\` of a change | ${limits.maxChangeIdLength} characters`],
    ['maxPageCount', `1 to ${limits.maxPageCount};`],
    ['maxReportedErrors', `errors named in one answer | ${limits.maxReportedErrors}`],
    ['headersTimeoutMs', `send the headers | ${limits.headersTimeoutMs / 1_000} s`],
    ['receiveTimeoutMs', `send the whole request | ${limits.receiveTimeoutMs / 1_000} s`],
    ['handlingTimeoutMs', `wait for a state | ${limits.handlingTimeoutMs / 1_000} s`],
    ['defaultRequestsPerSecond', `${limits.defaultRequestsPerSecond} per second`],
    ['requestBurstSeconds', `${limits.defaultRequestsPerSecond * limits.requestBurstSeconds} at once`],
    ['maxStreams', `streams of events and logs per API process | ${limits.maxStreams};`],
    ['slowStreamMs', `take what a stream has sent | ${limits.slowStreamMs / 1_000} s`],
    [
      'maxEventCount',
      `events of one answer (\`count\`) | 1 to ${limits.maxEventCount}, ${limits.defaultEventCount} `,
    ],
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
    ['maxCooldownMs', `0 to ${limits.maxCooldownMs}`],
    ['maxPublishedPorts', `${limits.maxPublishedPorts} ports, each from 1 to ${limits.maxPort}`],
    ['maxDomains', `\`domains\` | ${limits.maxDomains}; a name has ${maxDomainLength}`],
    ['maxConnectionLimit', `\`hard_limit\` | 1 to ${limits.maxConnectionLimit}`],
    ['maxVolumesPerInstance', `\`volumes\` of an instance | ${limits.maxVolumesPerInstance} `],
    ['maxChainLength', `\`chain\` | ${limits.maxChainLength} characters`],
    ['maxPrivateKeyLength', `\`pkey\` | ${limits.maxPrivateKeyLength} characters`],
    ['makingVolumesMs', `waits for file systems | ${limits.makingVolumesMs / 1_000} s`],
    ['maxAutoscaleTimeMs', `\`cooldown_time_ms\` | 0 to ${limits.maxAutoscaleTimeMs} `],
    ['maxTokens', `tokens of an account that are neither revoked nor expired | ${limits.maxTokens},`],
    ['maxTokenServices', `\`services\` of a token | ${limits.maxTokenServices} `],
    ['maxTokenLabelLength', `\`label\` of a token | ${limits.maxTokenLabelLength} characters`],
    ['maxTokenLifetimeSeconds', `\`lifetime_s\` | 1 to ${limits.maxTokenLifetimeSeconds} `],
    ['maxSchedules', `schedules of an account | ${limits.maxSchedules},`],
    ['maxScheduledInstances', `start or stop | ${limits.maxScheduledInstances} `],
    ['maxRunTimeoutSeconds', `\`timeout_s\` of a run | 1 to ${limits.maxRunTimeoutSeconds},`],
    ['keptRuns', `${limits.keptRuns}, each with ${limits.keptRunLogBytes / 1_024} KiB of log`],
    ['maxCanarySteps', `\`canary\` | ${limits.maxCanarySteps} steps,`],
    ['maxBakeSeconds', `\`bake_s\` | 0 to ${limits.maxBakeSeconds},`],
    ['maxKeepSeconds', `\`keep_s\` | 0 to ${limits.maxKeepSeconds},`],
    ['maxCheckTimes', `\`check.times\` | 1 to ${limits.maxCheckTimes} `],
    ['maxCheckIntervalMs', `to ${limits.maxCheckIntervalMs} `],
    ['maxCheckSeconds', `\`check.limit_s\` | 1 to ${limits.maxCheckSeconds} `],
    ['maxWatchedLatencyMs', `\`max_latency_ms\` | 1 to ${limits.maxWatchedLatencyMs} `],
    ['keptRollouts', `${limits.keptRollouts}; an answer has ${limits.defaultRolloutCount},`],
    ['maxImageReferenceLength', `\`image\` | ${limits.maxImageReferenceLength}`],
  ]
  it('has the sizes of a process as the hosts have them', async () => {
    const document = await readFile('docs/limits.md', 'utf8')
    assert.ok(document.includes(`one of them ${maxProcessStringBytes} bytes`))
    assert.ok(document.includes(`all together ${maxProcessBytes} bytes`))
  })
  it('has the bytes of a mount path as guests and file systems have them', async () => {
    const document = await readFile('docs/limits.md', 'utf8')
    assert.ok(document.includes(`${maxMountPathBytes} bytes, its components ${maxComponentBytes} bytes`))
  })
  it('has the certificates of an account as the database has them', async () => {
    const document = await readFile('docs/limits.md', 'utf8')
    assert.ok(document.includes(`certificates of an account | ${maxCertificatesPerUser}`))
    assert.ok(document.includes(`of one certificate | ${maxKeptAttempts} |`))
  })
  it('has the followers of logs as hosts bound them', async () => {
    const document = await readFile('docs/limits.md', 'utf8')
    const { all, ofOne } = consoleWaitBounds
    assert.ok(document.includes(`of one instance (of all API processes) | ${all}, and ${ofOne};`))
  })
  it('has the history of usage as hosts keep it', async () => {
    const document = (await readFile('docs/limits.md', 'utf8')).replaceAll(/\s+/g, ' ')
    const { '5s': short, '5m': long } = usageSteps
    assert.ok(document.includes(`keeps ${short.kept} steps of 5 s and ${long.kept} steps of 5 min`))
    assert.ok(document.includes(`at most ${long.kept} steps of all its objects together`))
  })
  it('has what is asked of chains and keys as they are read', async () => {
    const document = await readFile('docs/limits.md', 'utf8')
    assert.ok(document.includes(` ${maxChainCertificates} certificates (400`))
    assert.ok(document.includes(`RSA of ${minRsaBits} to ${maxRsaBits} bits (400`))
  })
  it('has what policies are made of as the domain has it', async () => {
    const document = await readFile('docs/limits.md', 'utf8')
    assert.ok(document.includes(`policies of a service | ${maxPoliciesPerService} `))
    assert.ok(document.includes(`\`steps\` of a policy | 1 to ${maxStepsPerPolicy} `))
    assert.ok(document.includes(`\`upper_bound\` | ${boundRange.min} to ${boundRange.max} `))
    assert.ok(document.includes(`\`adjustment\` | ${adjustmentRange.min} to ${adjustmentRange.max};`))
    assert.ok(document.includes(`\`name\` of a policy | ${maxPolicyNameLength} characters`))
  })
  for (const [name, text] of shown) {
    it(`has ${name} as the code has it`, async () => {
      // A sentence may go on in the next line.
      const document = (await readFile('docs/limits.md', 'utf8')).replaceAll(/\s+/g, ' ')
      assert.ok(document.includes(text), text)
    })
  }
})

describe('docs/api.md', () => {
  it('names every reserved label, and no other', async () => {
    const document = await readFile('docs/api.md', 'utf8')
    const [, list] = /these labels below it: ([^.]+)\./.exec(document) ?? []
    const named = [...(list ?? '').matchAll(/`(\w+)`/g)].map(([, label]) => label)
    assert.deepEqual(new Set(named), reservedMetroLabels)
    assert.equal(named.length, reservedMetroLabels.size)
  })

  it('names every directory that no volume is mounted in', async () => {
    const document = await readFile('docs/api.md', 'utf8')
    const [, list] = /lies in none of ([^.]+)\./.exec(document) ?? []
    const named = [...(list ?? '').matchAll(/`([^`]+)`/g)].map(([, path]) => path)
    assert.deepEqual(named, reservedPaths)
  })

  it('tells how long a create of volumes waits', async () => {
    const document = await readFile('docs/api.md', 'utf8')
    assert.ok(document.includes(`waits up to ${limits.makingVolumesMs / 1_000} s for the file system`))
  })
})
