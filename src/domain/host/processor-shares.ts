/** The directory of the control groups. */
export const groupRoot = '/sys/fs/cgroup'

/** The file in which a control group holds its share of the processors, by version of control groups. */
export const shareFile = { 1: 'cpu.shares', 2: 'cpu.weight' } as const

/** The share that a group or process has if nobody sets one, by version of control groups. */
export const neighbourShare = { 1: 1_024, 2: 100 } as const
