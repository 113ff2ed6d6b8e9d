/** Where control groups are. */
export const groupRoot = '/sys/fs/cgroup'

/** The file of a control group that says its share of the processors, by version of control groups. */
export const shareFile = { 1: 'cpu.shares', 2: 'cpu.weight' } as const

/** What a group or process has where nobody sets it. */
export const neighbourShare = { 1: 1_024, 2: 100 } as const
