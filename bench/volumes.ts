import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { writeOciLayout } from '../samples/oci-layout.ts'
import { logOf, viewOf, waitFor } from '../test/support/instances.ts'
import { roost } from '../test/support/roost-command.ts'
import type { Stack } from '../test/support/stack.ts'
import { until } from '../test/support/until.ts'
import { runByHand } from './by-hand.ts'
import { median } from './load.ts'
import { inMs } from './report.ts'
import type { Finding, Section } from './report.ts'
import { guestOf, preparedImage } from './start-times.ts'
import type { Hand } from './start-times.ts'

const run = promisify(execFile)

const sizesMb = [64, 1_024, 8_192]
const creates = 5
const runs = 3
/** The size of the file that is written and read. It is larger than the guest's memory. */
const measuredMb = 256
const volumeMb = 512
const randomOperations = 4_000
const memoryMb = 128
const limitMs = 120_000

interface Rates {
  readonly writeMb: number
  readonly readMb: number
  readonly reads: number
  readonly writes: number
}

/**
 * Measures how long a new volume takes, by size. Also measures a disk in the guest against the same file on
 * its host and against QEMU by hand.
 */
export async function benchVolumes(stack: Stack, hand: Hand): Promise<Section> {
  const directory = await mkdtemp(path.join(tmpdir(), 'roost-bench-volumes-'))
  try {
    const findings: Finding[] = []
    for (const sizeMb of sizesMb) findings.push(...(await createTimes(stack, directory, sizeMb)))
    findings.push(...(await throughput(stack, hand, directory)))
    return { title: 'volumes', findings }
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function createTimes(stack: Stack, directory: string, sizeMb: number): Promise<readonly Finding[]> {
  const roostMs: number[] = []
  const handMs: number[] = []
  for (let turn = 0; turn < creates; turn++) {
    const startedMs = performance.now()
    const { uuid } = await stack.api.one('createVolumes', { body: { size_mb: sizeMb } })
    roostMs.push(performance.now() - startedMs)
    const { state } = await stack.api.one('getVolumes', { object: uuid })
    if (state !== 'available') throw new Error(`a new volume is ${state}`)
    await stack.api.one('deleteVolumes', { object: uuid })
    const formatMs = performance.now()
    await formatByHand(path.join(directory, 'formatted'), sizeMb)
    handMs.push(performance.now() - formatMs)
  }
  const what = `creating ${sizeMb} MB until available`
  return [{ what, figure: `${inMs(median(roostMs))}, mkfs.ext4 by hand ${inMs(median(handMs))}` }]
}

async function formatByHand(file: string, sizeMb: number): Promise<void> {
  await rm(file, { force: true })
  await run('truncate', ['-s', `${sizeMb}M`, file])
  const options = 'lazy_itable_init=1,lazy_journal_init=1,nodiscard'
  await run('mkfs.ext4', ['-q', '-F', '-m', '0', '-E', options, file])
}

/**
 * Host, guest of Roost and guest by hand take turns, so that other work on the machine slows all of them
 * equally.
 */
async function throughput(stack: Stack, hand: Hand, directory: string): Promise<readonly Finding[]> {
  const program = await measuringImage(stack, directory)
  const { uuid: volume } = await stack.api.one('createVolumes', { body: { size_mb: volumeMb } })
  const { uuid } = await stack.api.one('createInstances', {
    body: {
      name: 'measured',
      image: 'disk',
      memory_mb: memoryMb,
      args: ['/data', String(measuredMb), String(randomOperations)],
      volumes: [{ uuid: volume, at: '/data' }],
    },
  })
  // The file is beside the volume, so that both are on the same disk.
  const onHost = path.join(stack.dataDir, 'agent', 'measured')
  await mkdir(onHost, { recursive: true })
  const byHandFile = path.join(onHost, 'by-hand.img')
  const all: { readonly host: Rates; readonly roost: Rates; readonly hand: Rates }[] = []
  for (let turn = 0; turn < runs; turn++) {
    const host = ratesOf((await run(program, [onHost, String(measuredMb), String(randomOperations)])).stdout)
    const inRoost = await measuredInGuest(stack, uuid)
    await formatByHand(byHandFile, volumeMb)
    all.push({ host, roost: inRoost, hand: await measuredByHand(stack, hand, { uuid, byHandFile }) })
  }
  await stack.api.one('deleteInstances', { object: uuid })
  await stack.api.one('deleteVolumes', { object: volume })
  const rates: readonly (readonly [keyof Rates, string])[] = [
    ['writeMb', 'MB/s written one after the other, durable at the end'],
    ['readMb', 'MB/s read one after the other'],
    ['reads', 'reads/s of 4 KB at random'],
    ['writes', 'writes/s of 4 KB at random, each durable'],
  ]
  return rates.map(([rate, what]) => {
    const of = (who: 'host' | 'roost' | 'hand') => median(all.map((one) => one[who][rate]))
    const ratio = (who: 'host' | 'hand') => median(all.map((one) => one.roost[rate] / one[who][rate]))
    const figures = `${of('roost').toFixed(0)}, on the host ${of('host').toFixed(0)}, by hand ${of('hand').toFixed(0)}`
    return {
      what,
      figure: `${figures}; Roost / host ${ratio('host').toFixed(2)}, / by hand ${ratio('hand').toFixed(2)}`,
    }
  })
}

/** Builds the image that measures. Resolves with the path of its program, which also runs on the host. */
async function measuringImage(stack: Stack, directory: string): Promise<string> {
  const program = path.join(directory, 'disk')
  const flags = ['-static', '-O2', '-Wall', '-Wextra', '-Werror', '-s']
  await run('musl-gcc', [...flags, '-o', program, path.join(import.meta.dirname, 'disk.c')])
  const layout = path.join(directory, 'layout')
  await writeOciLayout(layout, [
    {
      name: 'disk:latest',
      files: [{ path: 'disk', content: await readFile(program) }],
      config: { Entrypoint: ['/disk'] },
    },
  ])
  await roost(stack, 'image', 'import', layout, 'official/disk:latest')
  return program
}

async function measuredInGuest(stack: Stack, uuid: string): Promise<Rates> {
  const before = (await logOf(stack.api, uuid)).length
  await stack.api.one('startInstances', { object: uuid, body: { wait_timeout_ms: limitMs } })
  const line = await until(
    'it has measured',
    async () => /^disk .*$/m.exec((await logOf(stack.api, uuid)).slice(before))?.[0] ?? false,
    { limitMs },
  )
  await waitFor(stack.api, uuid, 'stopped')
  return ratesOf(line)
}

async function measuredByHand(
  stack: Stack,
  hand: Hand,
  { uuid, byHandFile }: { readonly uuid: string; readonly byHandFile: string },
): Promise<Rates> {
  const guest = guestOf(preparedImage(stack, await viewOf(stack.api, uuid)))
  const argv = ['/disk', '/data', String(measuredMb), String(randomOperations)]
  const start = { ...hand, ...guest, process: { ...guest.process, argv }, memoryMb }
  return ratesOf(await runByHand(start, byHandFile, /^disk /))
}

function ratesOf(line: string): Rates {
  const found = /disk ([\d.]+) ([\d.]+) (\d+) (\d+)/.exec(line)
  if (found === null) throw new Error(`nothing was measured: ${line}`)
  const [, writeMb, readMb, reads, writes] = found.map(Number)
  return { writeMb: writeMb!, readMb: readMb!, reads: reads!, writes: writes! }
}
