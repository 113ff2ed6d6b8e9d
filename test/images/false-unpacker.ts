import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** What stands before a line that the process has to write. */
const sayPrefix = 'say '

/**
 * Stands in for an unpacking process that a hostile image has taken over. It leaves a link to a file of the
 * host in place of its result, or writes output without end, or a line that the test gives it.
 */
for await (const line of createInterface({ input: process.stdin })) {
  const { directory, sqfstar } = JSON.parse(line) as { directory: string; sqfstar: string }
  if (sqfstar === 'talk') for (;;) process.stdout.write(`${'x'.repeat(10_000)}\n`)
  if (sqfstar.startsWith(sayPrefix)) process.stdout.write(`${sqfstar.slice(sayPrefix.length)}\n`)
  await symlink('/etc/passwd', join(directory, 'rootfs.squashfs'))
  process.stdout.write('{"kind":"done","unpacked":{"kind":"container"}}\n')
}
