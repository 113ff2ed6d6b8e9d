import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { writeOciLayout } from '../../samples/oci-layout.ts'
import { readInstalled, requireInstalled } from '../../src/launch/installed.ts'
import { ExecClose } from '../../src/domain/instance/exec-protocol.ts'
import { ExecClient } from '../support/exec-client.ts'
import { logOf, runInstance, waitFor } from '../support/instances.ts'
import { sharedStack } from '../support/shared-stack.ts'
import { until } from '../support/until.ts'

const run = promisify(execFile)
const executable = 0o100755
/** The limit for an emulated boot on a busy machine. */
const bootLimitMs = 90_000

/** The whole system of the image: it prints that it is there and its arguments, then waits. */
const program = `
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  char line[512] = "";
  mkdir("/proc", 0755);
  mount("proc", "/proc", "proc", 0, NULL);
  int fd = open("/proc/cmdline", O_RDONLY);
  if (read(fd, line, sizeof line - 1) < 0) return 1;
  printf("own kernel is up: %s\\n", line);
  fflush(stdout);
  for (;;) pause();
}`

/** Returns the kernel argument that docs/images.md describes. Bogomips are twice the MHz. */
async function clockArgument(): Promise<string> {
  const bogomips = /bogomips\s*:\s*([\d.]+)/.exec(await readFile('/proc/cpuinfo', 'utf8'))?.[1]
  return `tsc_early_khz=${Math.round(Number(bogomips) * 500)} tsc=reliable`
}

/** The set-up script that packs the guest's own initrd. It has no types. */
const packer = path.join(import.meta.dirname, '../../guest/cpio.mjs')
interface Packer {
  packCpio(
    entries: readonly { readonly name: string; readonly mode: number; readonly data: Buffer }[],
  ): Buffer
}

describe('an image that brings its own kernel and initrd', () => {
  let directory: string
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'roost-own-kernel-'))
  })
  after(() => rm(directory, { recursive: true }))

  it('runs that kernel, with its own arguments before those of the instance', async () => {
    const stack = await sharedStack()
    const guest = requireInstalled(readInstalled(), 'guestDirectory')
    await writeFile(path.join(directory, 'init.c'), program)
    await run('musl-gcc', ['-static', '-Os', '-o', 'init', 'init.c'], { cwd: directory })
    const { packCpio }: Packer = await import(packer)
    const init = await readFile(path.join(directory, 'init'))
    const layout = path.join(directory, 'layout')
    await writeOciLayout(layout, [
      {
        name: 'own:latest',
        files: [
          { path: 'unikraft/bin/kernel', content: await readFile(path.join(guest, 'vmlinux')) },
          {
            path: 'unikraft/bin/initrd',
            content: packCpio([{ name: 'init', mode: executable, data: init }]),
          },
        ],
        config: {
          Labels: { 'roost.kernel_args': `console=ttyS0 panic=-1 reboot=t ${await clockArgument()}` },
        },
      },
    ])
    const credentials = Buffer.from(stack.token, 'base64').toString('utf8')
    const target = `docker://${stack.registry}/admin/own-kernel:latest`
    const options = ['--dest-tls-verify=false', '--dest-creds', credentials]
    await run('skopeo', ['copy', ...options, `oci:${layout}:own:latest`, target])

    const view = await runInstance(stack.api, {
      name: 'own-kernel',
      image: 'admin/own-kernel',
      args: ['hello=there'],
    })
    assert.equal(view.state, 'running')
    const look = async () => {
      const text = await logOf(stack.api, view.uuid)
      return /own kernel is up: [^\n]*\n/.test(text) ? text : undefined
    }
    const log = await until('the console of the own kernel', look, { limitMs: bootLimitMs })
    assert.match(log, /own kernel is up: .*console=ttyS0.* hello=there/)
    const exec = await ExecClient.open(stack.apiUrl, stack.token, `/v1/instances/${view.uuid}/exec`)
    exec.tell({ type: 'run', argv: ['sh'] })
    const [code, reason] = await exec.closed()
    assert.equal(code, ExecClose.Unable)
    assert.match(reason, /runs a kernel of its own/)
    await stack.api.one('stopInstances', { object: view.uuid, body: { force: true } })
    await waitFor(stack.api, view.uuid, 'stopped')
    await stack.api.one('deleteInstances', { object: view.uuid })
  })
})
