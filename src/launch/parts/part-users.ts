import { execFile } from 'node:child_process'
import { chmod, chown, stat } from 'node:fs/promises'
import { promisify } from 'node:util'

/**
 * The users of the machine as which the parts run if the stack is root. Each part has a user of its own. So
 * if somebody takes over a part, they reach neither the machine nor the files of other parts. Only the agent
 * stays root: it makes network devices, control groups and users of VMs.
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

/** The program that makes users, from the Debian package passwd. */
export const useradd = '/usr/sbin/useradd'
/** The command that installs `useradd`. */
export const useraddRemedy = 'apt-get install -y --no-install-recommends passwd'

/** A user for a part could not be made. */
export class UserNotMade extends Error {
  override readonly name = 'UserNotMade'
}

const run = promisify(execFile)

/**
 * Returns the numbers of a user. Makes the user, with a group of the same name, if the machine has none yet.
 */
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
    throw new UserNotMade(`the user ${name}, under which a part runs, can not be made: ${why}`, { cause })
  }
}

/** The users that do not exist yet. The next start has to make them. */
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
 * Makes a part the only owner of a directory and of everything that an earlier version made in it as another
 * user. The directory itself changes its owner last. So while it has another owner, the work may be
 * unfinished.
 */
export async function giveTree(directory: string, { uid, gid }: UserIds): Promise<void> {
  await chmod(directory, 0o700)
  if ((await stat(directory)).uid === uid) return
  await run('find', [directory, '-mindepth', '1', '-exec', 'chown', '-h', `${uid}:${gid}`, '--', '{}', '+'])
  await chown(directory, uid, gid)
}

/** Lets root and the users of a group read a file of root, and nobody else. */
export async function letRead(file: string, { gid }: UserIds): Promise<void> {
  await chown(file, 0, gid)
  await chmod(file, 0o640)
}

/** Gives a file to one part: only the part and root may read it. */
export async function giveFile(file: string, { uid }: UserIds): Promise<void> {
  await chown(file, uid, 0)
  await chmod(file, 0o400)
}
