import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TLSSocket } from 'node:tls'
import { setTimeout as delay } from 'node:timers/promises'
import { buildTemplate } from '../src/host/vmm/template-build.ts'
import type { Template } from '../src/host/vmm/template-build.ts'
import { viewOf } from '../test/support/instances.ts'
import { openPublicNames } from '../test/support/public-names.ts'
import type { PublicNames } from '../test/support/public-names.ts'
import { linePort, publish, untilAsleep } from '../test/support/published-instance.ts'
import type { Published } from '../test/support/published-instance.ts'
import type { Stack } from '../test/support/stack.ts'
import type { HandStart } from './by-hand.ts'
import { HandVm, prepareHandNetwork, removeHandNetwork } from './hand-vm.ts'
import type { HandSource } from './hand-vm.ts'
import { median, quantile } from './load.ts'
import { guestOf, preparedImage } from './start-times.ts'
import type { Hand } from './start-times.ts'
import { inMs } from './report.ts'
import type { Finding, Section } from './report.ts'

const statefulRuns = 21
const templateRuns = 11
const bootRuns = 3
const lineRuns = 7
const sleepers = 16
const manyRounds = 2
const memoryMb = 128
const httpsPort = 443
/**
 * The pause after a standby. After it the snapshot is written, the VM has ended, and the machine is quiet
 * again.
 */
const settleMs = 500
/** How long the benchmark waits for the template that the first start of a size makes in the background. */
const templateMadeMs = 5_000
const kept = { policy: 'on', cooldown_time_ms: 200, stateful: true }
const quiet = { policy: 'idle', cooldown_time_ms: 200, stateful: true }
const cold = { policy: 'on', cooldown_time_ms: 200 }

/**
 * Measures the time from a request at the gateway for a sleeping instance to the answer, against QEMU alone
 * doing the same.
 */
export async function benchWake(stack: Stack, hand: Hand): Promise<Section> {
  const names = openPublicNames(stack)
  const directory = mkdtempSync(path.join(tmpdir(), 'roost-wake-'))
  let template: Template | undefined
  prepareHandNetwork()
  try {
    const first = await publish(stack, 'wake-cold', { scale_to_zero: cold })
    const guest = guestOf(preparedImage(stack, await viewOf(stack.api, first.uuid)))
    const start: HandStart = { ...hand, ...guest, memoryMb }
    template = await buildTemplate({ memoryMb, vcpus: 1 }, hand, {
      statePath: path.join(directory, 'template'),
      signal: new AbortController().signal,
    })
    const snapshot = await takeSnapshot(start, path.join(directory, 'snapshot'))
    await delay(templateMadeMs)
    const bench = { stack, names, start }
    const findings = [
      ...(await benchStateful(bench, snapshot)),
      ...(await benchCold(bench, first, { kind: 'template', ...template })),
      ...(await benchLines(bench)),
      ...(await benchMany(bench)),
    ]
    return { title: 'wake: request to answer at the gateway over a connection that is there', findings }
  } finally {
    await template?.release()
    await names.close()
    removeHandNetwork()
    rmSync(directory, { recursive: true, force: true })
  }
}

interface Bench {
  readonly stack: Stack
  readonly names: PublicNames
  readonly start: HandStart
}

async function benchStateful(bench: Bench, snapshot: HandSource): Promise<readonly Finding[]> {
  const web = await publish(bench.stack, 'wake-kept', { scale_to_zero: kept })
  const byHand: number[] = []
  const greeted: number[] = []
  const ours: number[] = []
  for (let run = 0; run < statefulRuns; run++) {
    await untilAsleep(bench.stack, web.uuid)
    byHand.push(await handMs(bench.start, snapshot))
    greeted.push(await handMs(bench.start, snapshot, { greets: true }))
    ours.push(await wakeMs(bench, web))
  }
  await bench.stack.api.one('deleteInstances', { object: web.uuid })
  return [
    { what: `by hand, from a snapshot (${statefulRuns})`, figure: both(byHand) },
    { what: 'by hand, and the guest is given the time and random bytes', figure: both(greeted) },
    { what: 'Roost, stateful', figure: both(ours) },
    ...differences('stateful', ours, byHand),
    {
      what: 'stateful - by hand with time and random bytes, at p50',
      figure: inMs(median(ours) - median(greeted)),
    },
  ]
}

async function benchCold(bench: Bench, web: Published, template: HandSource): Promise<readonly Finding[]> {
  const boots: number[] = []
  const byHand: number[] = []
  const ours: number[] = []
  for (let run = 0; run < bootRuns; run++) boots.push(await handMs(bench.start))
  for (let run = 0; run < templateRuns; run++) {
    await untilAsleep(bench.stack, web.uuid)
    byHand.push(await handMs(bench.start, template))
    ours.push(await wakeMs(bench, web))
  }
  return [
    { what: `by hand, plain boot (${bootRuns})`, figure: both(boots) },
    { what: `by hand, from a template (${templateRuns})`, figure: both(byHand) },
    { what: 'Roost, cold, from a template', figure: both(ours) },
    ...differences('cold', ours, byHand),
  ]
}

/** Measures the answer to the next line of a connection that stayed open while the instance slept. */
async function benchLines({ stack, names }: Bench): Promise<readonly Finding[]> {
  const web = await publish(stack, 'wake-lines', { scale_to_zero: quiet })
  const connection = await names.connect(web.host, linePort)
  connection.setNoDelay(true)
  const ours: number[] = []
  for (let run = 0; run < lineRuns; run++) {
    await untilAsleep(stack, web.uuid)
    await delay(settleMs)
    ours.push(await timed(async () => await said(connection, 'a line\n')))
  }
  connection.destroy()
  await stack.api.one('deleteInstances', { object: web.uuid })
  return [{ what: `Roost, next line of a quiet TCP connection (${lineRuns})`, figure: both(ours) }]
}

async function benchMany(bench: Bench): Promise<readonly Finding[]> {
  const { stack } = bench
  const all: Published[] = []
  for (let index = 0; index < sleepers; index++) {
    all.push(await publish(stack, `many-${String.fromCodePoint(97 + index)}`, { scale_to_zero: kept }))
  }
  const totals: number[] = []
  const each: number[] = []
  for (let round = 0; round < manyRounds; round++) {
    for (const { uuid } of all) await untilAsleep(stack, uuid)
    const connections = await Promise.all(all.map(async (web) => await connected(bench, web)))
    await delay(settleMs)
    const wakes = async () => await Promise.all(connections.map(async (get) => each.push(await timed(get))))
    totals.push(await timed(wakes))
  }
  for (const { uuid } of all) await stack.api.one('deleteInstances', { object: uuid })
  const perSecond = (sleepers * 1_000) / median(totals)
  return [
    {
      what: `${sleepers} sleepers asked at once, stateful (${manyRounds} times)`,
      figure: `${perSecond.toFixed(1)} wakes/s, ${both(each)}`,
    },
  ]
}

async function takeSnapshot(start: HandStart, statePath: string): Promise<HandSource> {
  const vm = new HandVm(start)
  await vm.answered()
  await delay(settleMs)
  await vm.suspend(statePath)
  return { kind: 'snapshot', statePath }
}

async function handMs(start: HandStart, source?: HandSource, how?: { greets: boolean }): Promise<number> {
  await delay(settleMs)
  const startedMs = performance.now()
  const vm = new HandVm(start, source)
  try {
    await vm.answered(how)
    return performance.now() - startedMs
  } finally {
    await vm.end()
  }
}

async function wakeMs(bench: Bench, web: Published): Promise<number> {
  const get = await connected(bench, web)
  await delay(settleMs)
  return await timed(get)
}

/**
 * Makes a connection in advance, so that its making is not measured. Calling the result sends one request
 * over it.
 */
async function connected({ names }: Bench, { host }: Published): Promise<() => Promise<void>> {
  const connection = await names.connect(host, httpsPort)
  connection.setNoDelay(true)
  return async () => {
    const answer = await said(connection, `GET /count HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    connection.destroy()
    if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(`the wake was answered with ${answer}`)
  }
}

/** Sends `words` and resolves with the beginning of the answer. */
async function said(connection: TLSSocket, words: string): Promise<string> {
  connection.write(words)
  const [part] = (await once(connection, 'data')) as [Buffer]
  return part.toString('utf8')
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

function both(values: readonly number[]): string {
  return `p50 ${inMs(quantile(values, 0.5))}, p99 ${inMs(quantile(values, 0.99))}`
}

/**
 * Other work on the machine slows measurements that are close in time equally, so the median is of pairs
 * too.
 */
function differences(what: string, ours: readonly number[], byHand: readonly number[]): readonly Finding[] {
  const pairs = ours.map((ms, run) => ms - (byHand[run] ?? Number.NaN))
  const best = Math.min(...ours) - Math.min(...byHand)
  return [
    {
      what: `${what} - by hand, at p50`,
      figure: inMs(median(ours) - median(byHand)),
      aim: 'at most 8 ms',
    },
    {
      what: `${what} - by hand, median of neighbours; of the best`,
      figure: `${inMs(median(pairs))}; ${inMs(best)}`,
    },
  ]
}
