import type { PrivateName } from '../../../src/domain/service/route-feed.ts'

export const user = '00000000-0000-4000-8000-00000000000a'
export const otherUser = '00000000-0000-4000-8000-00000000000b'

export function nameOf(name: string, privateIp: string, userUuid = user): PrivateName {
  return { uuid: `instance at ${privateIp}`, userUuid, name, privateIp }
}
