import type { Trial, TrialResult } from '../../domain/autoscale/trial.ts'
import { recordedMs } from '../../domain/autoscale/trial.ts'

/** The result of a trial in sentences. */
export function trialText(trial: Trial, { report, ranInstanceSeconds, saturatedMs }: TrialResult): string {
  const { smallestSize, largestSize, instanceSeconds, resizes, shortages, missingInstanceSeconds } = report
  const sizes =
    smallestSize === largestSize
      ? `It would have had ${counted(smallestSize, 'instance')} all the time`
      : `It would have had ${smallestSize} to ${counted(largestSize, 'instance')}, after ${counted(resizes, 'change')} of the size`
  const missing =
    shortages === 0
      ? 'At all times there would have been as many as the policies want.'
      : `${counted(shortages, 'time')} fewer would have been there than the policies want: ${hoursText(missingInstanceSeconds)} were missing.`
  const saturated =
    saturatedMs === 0
      ? []
      : [
          `For ${timeText(saturatedMs / 1_000)} the instances that ran used nearly all of their processors. More may have been asked of them than they could do, and a trial knows only what they did.`,
        ]
  return [
    `The load of ${timeText(recordedMs(trial) / 1_000)} was recorded.`,
    `${sizes}: ${hoursText(instanceSeconds)}, and ${hoursText(ranInstanceSeconds)} really ran.`,
    missing,
    ...saturated,
  ].join(' ')
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

function timeText(seconds: number): string {
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Number((seconds / 60).toFixed(0))} min`
}

function hoursText(instanceSeconds: number): string {
  if (instanceSeconds < 3_600) return `${(instanceSeconds / 60).toFixed(1)} instance minutes`
  return `${(instanceSeconds / 3_600).toFixed(1)} instance hours`
}
