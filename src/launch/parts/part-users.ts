import { execFile } from 'node:child_process'
import { chmod, chown, stat } from 'node:fs/promises'
import { promisify } from 'node:util'

/**
 * Users of the machine that the parts run as where the stack is root, one each, so that a part that is taken
 * over reaches neither the machine nor the files of the others. The agent alone stays root: it makes network
 * devices, control groups and users of VMs.
 */
export const PartUser = {
  Postgres: 'roost-postgres',
  Temporal: 'roost-temporal',
  Registry: 'roost-registry',
  Api: 'roost-api',
  Worker: 'roost-worker',
  Gateway: 'roost-gateway',
} as const
export type PartUser = (typeof PartUser)[keyof typeof PartUser]

export interface UserIds {
  readonly uid: number
  readonly gid: number
}

/** What makes users: of the Debian package passwd. */
export const useradd = '/usr/sbin/useradd'
/** What brings it where it is missing. */
export const useraddRemedy = 'apt-get install -y --no-install-recommends passwd'

/** A part can not get a user of its own. */
export class UserNotMade extends Error {
  override readonly name = 'UserNotMade'
}

const run = promisify(execFile)

/** The numbers of a user, who is made with a group of that name where the machine has none yet. */
export async function ensureUser(name: PartUser, program = useradd): Promise<UserIds> {
  const found = await run('id', [name]).catch(async () => {
    await makeUser(name, program)
    return run('id', [name])
  })
  const [, uid, gid] = /uid=(\d+)\D.*?gid=(\d+)/.exec(found.stdout) ?? []
  if (uid === undefined || gid === undefined) throw new Error(`'id ${name}' answers ${found.stdout}`)
  return { uid: Number(uid), gid: Number(gid) }
}

async function makeUser(name: PartUser, program: string): Promise<void> {
  const options = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent']
  try {
    await run(program, [...options, '--shell', '/usr/sbin/nologin', name])
  } catch (cause) {
    const { code, stderr } = cause as { code?: unknown; stderr?: string }
    const why =
      code === 'ENOENT' ? `there is no ${program}; ${useraddRemedy}` : stderr?.trim() || String(cause)
    throw new UserNotMade(`the user ${name}, as which a part is to run, can not be made: ${why}`, { cause })
  }
}

/** The users whom the next start has to make. */
export async function absentUsers(): Promise<readonly PartUser[]> {
  const names = Object.values(PartUser)
  const there = await Promise.all(
    names.map((name) =>
      run('id', [name]).then(
        () => true,
        () => false,
      ),
    ),
  )
  return names.filter((_, index) => there[index] === false)
}

/**
 * Makes a directory the part's alone, with all that an earlier version made in it as another user. The
 * directory itself goes last: as long as it belongs to somebody else, the rest may not be done.
 */
export async function giveTree(directory: string, { uid, gid }: UserIds): Promise<void> {
  await chmod(directory, 0o700)
  if ((await stat(directory)).uid === uid) return
  await run('find', [directory, '-mindepth', '1', '-exec', 'chown', '-h', `${uid}:${gid}`, '--', '{}', '+'])
  await chown(directory, uid, gid)
}

/** Lets the users of a group read a file of root's, and nobody else. */
export async function letRead(file: string, { gid }: UserIds): Promise<void> {
  await chown(file, 0, gid)
  await chmod(file, 0o640)
}

/** Makes a file one part's alone: it may read it, and nobody else but root. */
export async function giveFile(file: string, { uid }: UserIds): Promise<void> {
  await chown(file, uid, 0)
  await chmod(file, 0o400)
}
