import { readFile } from 'node:fs/promises'
import { SettingError } from './setting-formats.ts'

/** What a host joins with. Throws `SettingError` where the file can not be read, or has nothing in it. */
export async function readJoinToken(file: string): Promise<string> {
  const token = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new SettingError(
      wrong(file, cause.code === 'ENOENT' ? 'does not exist' : `can not be read: ${String(cause.code)}`),
      {
        cause,
      },
    )
  })
  if (token.trim() === '') throw new SettingError(wrong(file, 'is empty'))
  return token.trim()
}

function wrong(file: string, what: string): string {
  return (
    `ROOST_JOIN_TOKEN_FILE is '${file}', which ${what}: put the token there that ` +
    '`cat <data directory>/keys/join-token` prints on the machine of the API, or name the file that has it'
  )
}
