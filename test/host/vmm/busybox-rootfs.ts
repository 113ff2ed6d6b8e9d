import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, copyFile, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Makes the root file system of a small Linux from Debian's static busybox, as one squashfs. Its shell is
 * enough for any application that a test needs. `addTo` may put more into the root.
 */
export async function makeBusyboxRootfs(
  directory: string,
  addTo: (root: string) => Promise<void> = async () => await Promise.resolve(),
): Promise<string> {
  const root = path.join(directory, 'busybox-root')
  for (const name of ['bin', 'etc', 'proc', 'sys', 'dev', 'tmp'])
    await mkdir(path.join(root, name), { recursive: true })
  await chmod(path.join(root, 'tmp'), 0o1777)
  await copyFile('/bin/busybox', path.join(root, 'bin/busybox'))
  const { stdout } = await run('/bin/busybox', ['--list'])
  for (const applet of stdout.split('\n').filter((name) => name !== '' && name !== 'busybox')) {
    await symlink('busybox', path.join(root, 'bin', applet))
  }
  const users = ['root:x:0:0:root:/root:/bin/sh', 'app:x:1000:1000::/home/app:/bin/sh']
  await writeFile(path.join(root, 'etc/passwd'), `${users.join('\n')}\n`)
  await writeFile(path.join(root, 'etc/group'), 'root:x:0:\napp:x:1000:\nextra:x:2000:app\n')
  await addTo(root)
  const output = path.join(directory, 'busybox.squashfs')
  const archive = spawn('tar', ['-C', root, '-cf', '-', ...(await readdir(root))], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const squash = spawn('sqfstar', ['-quiet', '-no-progress', output], {
    stdio: [archive.stdout, 'ignore', 'inherit'],
  })
  const [code] = (await once(squash, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`sqfstar ended with ${String(code)}`)
  return output
}
