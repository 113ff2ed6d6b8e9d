import { AskerKind, thePlatform } from '../event/asker.ts'
import type { Asker } from '../event/asker.ts'
import type { News } from '../event/news.ts'
import { UserEventKind } from '../event/user-event-kind.ts'
import { HostState } from './explanation.ts'
import { HostUse } from './use.ts'

/**
 * What administrators are told when one of them sets the use of a host. Undefined if it was the same before.
 */
export function useNews({
  from,
  to,
  asker,
}: {
  readonly from: HostUse
  readonly to: HostUse
  readonly asker: Asker
}): News | undefined {
  if (from === to) return undefined
  const takenBack = from === HostUse.Draining ? 'its drain is taken back; ' : ''
  return { kind: UserEventKind.HostUse, from, to, why: `${takenBack}${useWords[to]}`, asker }
}

const useWords: Readonly<Record<HostUse, string>> = {
  [HostUse.Open]: 'new instances and volumes are placed there again',
  [HostUse.Cordoned]: 'nothing new is placed there',
  [HostUse.Draining]: 'its instances move to other hosts',
}

/** The drain of a host is over, which stays cordoned. */
export const drainedNews: News = {
  kind: UserEventKind.HostUse,
  from: HostUse.Draining,
  to: HostUse.Cordoned,
  why: 'no instance is left on it',
  asker: thePlatform,
}

/** A host counts as lost because it was not heard. */
export const lostNews: News = {
  kind: UserEventKind.HostState,
  to: HostState.Lost,
  why: 'it was not heard for longer than its term',
  asker: thePlatform,
}

/** A host counts as lost because an administrator removed it so. */
export function removedNews(asker: Asker): News {
  return { ...lostNews, why: 'an administrator removed it as lost', asker }
}

/** A lost host is heard again. */
export function backNews(host: string): News {
  return {
    kind: UserEventKind.HostState,
    from: HostState.Lost,
    to: HostState.Live,
    why: 'it was heard again, and has cleared up',
    asker: { by: AskerKind.Host, name: host },
  }
}
