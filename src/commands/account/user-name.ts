import { CommandFailure } from '../command-failure.ts'

/** The name of the user whose token it is. A token is base64 of `user:secret`. */
export function userNameIn(token: string): string {
  const [, user] = /^([a-z][a-z0-9-]*):[^:]+$/.exec(Buffer.from(token, 'base64').toString('utf8')) ?? []
  if (user !== undefined) return user
  throw new CommandFailure('the token does not say whose it is: give the name as <user>/<app>[:<tag>]')
}
