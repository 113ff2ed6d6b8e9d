import type { getBalance } from '../../contract/host/operations.ts'
import { defaultBalancingMoves } from '../../contract/limits.ts'
import { readBalance } from '../../db/host/balance.ts'
import type { FullnessChange } from '../../domain/host/balance.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'

/**
 * The moves that would make the hosts more equally full. To an account that is not an administrator's it
 * looks as if there were no hosts.
 */
export function hostsBalance({ database }: ApiDeps): Handler<typeof getBalance> {
  return async ({ query: { most = defaultBalancingMoves } }, call) => {
    const moves = call.identity.admin ? await readBalance(database, most) : []
    return {
      entries: moves.map(({ instance: { uuid, name }, from, to }) => ({
        status: 'success',
        uuid,
        name,
        from: presentChange(from),
        to: presentChange(to),
      })),
    }
  }
}

function presentChange({ hostId, before, after }: FullnessChange) {
  return { host: hostId, percent_before: percent(before), percent_after: percent(after) }
}

function percent(share: number): number {
  return Math.max(0, Math.round(100 * share))
}
