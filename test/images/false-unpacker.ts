import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/**
 * A process that was taken over by its image: it leaves a link to a file of the host's, or talks without end.
 */
for await (const line of createInterface({ input: process.stdin })) {
  const { directory, sqfstar } = JSON.parse(line) as { directory: string; sqfstar: string }
  if (sqfstar === 'talk') for (;;) process.stdout.write(`${'x'.repeat(10_000)}\n`)
  await symlink('/etc/passwd', join(directory, 'rootfs.squashfs'))
  process.stdout.write('{"kind":"done","unpacked":{"kind":"container"}}\n')
}
