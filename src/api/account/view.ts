import type { getQuotas } from '../../contract/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { QuotaReport } from '../../domain/account/quotas.ts'
import { limitNames, presentNumbers, quotaNames } from './quota-names.ts'

type Entry = OperationEntry<typeof getQuotas>

export function presentQuotas(report: QuotaReport): Entry {
  return { status: 'success', uuid: report.userUuid, ...presentReport(report) }
}

/** What is used, what is allowed, and the bounds of single objects. */
export function presentReport({ used, hard, limits }: QuotaReport): Pick<Entry, 'used' | 'hard' | 'limits'> {
  return {
    used: presentNumbers(quotaNames, used),
    hard: presentNumbers(quotaNames, hard),
    limits: presentNumbers(limitNames, limits),
  }
}
