import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import { until } from '../../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { exitOf } from './scene.ts'

const top = '18446744073709551616'
const invalid = 'Invalid argument'
const outOfRange = 'Numerical result out of range'

/**
 * What is written, as an argument of `printf`; what the file holds then; the error with which the write
 * fails.
 */
const writes: readonly (readonly [string, string, string?])[] = [
  ['+', '1'],
  ['+\\n', '2'],
  ['-', '1'],
  ['+41', '42'],
  ['-2\\n', '40'],
  ['=7', '7'],
  ['+0', '7'],
  ['=007', '7'],
  ['', '7'],
  ['x', '7', invalid],
  ['=', '7', invalid],
  ['7', '7', invalid],
  ['=5x', '7', invalid],
  ['= 5', '7', invalid],
  ['+-1', '7', invalid],
  ['++', '7', invalid],
  ['=1\\n\\n', '7', invalid],
  ['\\n', '7', invalid],
  ['\\000', '7', invalid],
  ['\\0005', '7', invalid],
  ['-8', '7', outOfRange],
  [`=${top}`, top],
  ['+', top, outOfRange],
  ['+0', top],
  ['-1', '18446744073709551615'],
  ['+1', top],
  ['=18446744073709551617', top, outOfRange],
  [`+${top}`, top, outOfRange],
  [`=${'9'.repeat(100)}`, top, outOfRange],
  [`-${'9'.repeat(100)}`, top, outOfRange],
  [`=${'9'.repeat(100)}x`, top, invalid],
  [`-${top}`, '0'],
  ['-', '0', outOfRange],
]

describe('the file by which applications speak against standby', () => {
  let bench: QemuBench
  let vmm: QemuVmm

  before(async () => {
    bench = await openQemuBench()
    vmm = bench.open()
  })
  after(async () => {
    await vmm.close()
    await bench.close()
  })

  async function print(script: string, user = ''): Promise<readonly string[]> {
    const { console } = await bench.run(vmm, {
      argv: ['sh', '-c', `f=$ROOST_SCALE_TO_ZERO_FILE; ${script}`],
      user,
    })
    return console.trimEnd().split('\n')
  }

  it('takes valid writes from every process, exactly up to 2^64, and lets invalid writes fail', async () => {
    const write = 'cat /dev/shm/text 2> /dev/shm/why > $f; echo "$? $(cat $f) $(cat /dev/shm/why)"'
    const steps = writes.map(([text]) => `printf '${text}' > /dev/shm/text; ${write}`)
    const lines = await print(`echo $f; ${steps.join('\n')}`, 'app')
    assert.equal(lines[0], '/uk/libukp/scale_to_zero_disable')
    for (const [index, [text, count, error]] of writes.entries()) {
      const [code, value, ...why] = (lines[index + 1] ?? '').trim().split(' ')
      assert.deepEqual([text, value, code === '0'], [text, `=${count}`, error === undefined])
      if (error !== undefined) assert.match(why.join(' '), new RegExp(error))
    }
  })

  it('works with a shell’s echo, appending, byte by byte and with several writes to one descriptor', async () => {
    const lines = await print(
      'echo +5 > $f; echo +2 >> $f; dd if=$f bs=1 2>/dev/null; exec 3> $f; echo - >&3; echo - >&3; cat $f; echo no > $f || echo refused',
    )
    assert.deepEqual([lines[0], lines[1], lines.at(-1)], ['=7', '=5', 'refused'])
  })

  it('works after long writes, many writes or openers at once, and processes that wait in its pipe', async () => {
    const lines = await print(`
      head -c 3000000 /dev/zero | tr 2>/dev/null '\\0' 9 > $f; echo $? $(cat $f)
      { printf =; head -c 5000 /dev/zero | tr '\\0' 9; } > /dev/shm/long; cat /dev/shm/long 2>/dev/null > $f; echo $? $(cat $f)
      { printf =; head -c 5000 /dev/zero | tr '\\0' 0; } > /dev/shm/long; cat /dev/shm/long 2>/dev/null > $f; echo $? $(cat $f)
      for i in $(seq 1 200); do sleep 30 < $f & done
      for p in 1 2 3 4; do { for i in $(seq 1 300); do echo + > $f; done; } & pids="$pids $!"; done
      wait $pids
      for i in $(seq 1 200); do cat $f; done | sort | uniq -c | tr -s ' '
      chmod 0 $f 2>/dev/null || rm $f 2>/dev/null || echo kept`)
    assert.deepEqual(lines.slice(0, 3), ['1 =0', '1 =0', '1 =0'])
    assert.ok(lines.includes(' 200 =1200'), lines.join('\n'))
    assert.equal(lines.at(-1), 'kept')
  })

  it('reports a flood of changes to the host at most ten times a second, and always the last one', async () => {
    const heard: boolean[] = []
    vmm.onDisabled((_, disabled) => heard.push(disabled))
    const script =
      'for i in $(seq 1 1500); do echo + > $f; echo - > $f; done; echo + > $f; echo over; sleep 1000000'
    const spec = await bench.spec({ argv: ['sh', '-c', `f=$ROOST_SCALE_TO_ZERO_FILE; ${script}`] })
    const startedAtMs = Date.now()
    await vmm.start(spec)
    await until('the flood is over', async () => (await bench.consoleOf(spec)).includes('over'), {
      limitMs: 40_000,
    })
    await until('the last is told', async () => (await vmm.status(spec))?.disabled === true, {
      limitMs: 30_000,
    })
    await delay(300)
    assert.equal(heard.at(-1), true)
    assert.ok(heard.length <= 2 + (Date.now() - startedAtMs) / 100, `${heard.length} times`)
    // The VM's record has no such event. Each change would make the record longer, and only the present
    // state matters.
    assert.equal(await bench.eventOf(spec, 'disabled'), undefined)
    await vmm.kill(spec, 'forced')
    await vmm.forget(spec)
  })

  it('does not keep a guest that rests for standby from its shutdown', async () => {
    const script =
      'trap "echo + > $ROOST_SCALE_TO_ZERO_FILE; exit 8" TERM; echo up; while :; do sleep 0.05; done'
    const spec = await bench.spec({ argv: ['sh', '-c', script] })
    await vmm.start(spec)
    await until('it runs', async () => (await bench.consoleOf(spec)).includes('up'), { limitMs: 30_000 })
    await until('standby suits it', async () => (await vmm.askToSleep(spec)) === 'ready', { limitMs: 30_000 })
    await vmm.shutdown(spec, { graceMs: 20_000 })
    assert.equal((await exitOf(vmm, spec)).exitCode, 8)
    await vmm.forget(spec)
  })
})
