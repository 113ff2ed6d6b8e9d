import { signal } from '@preact/signals'

/** The present time, as precise as ages on a page are. */
const stepMs = 5_000
export const presentMs = signal(Date.now())

export function watchTime(): void {
  setInterval(() => {
    presentMs.value = Date.now()
  }, stepMs)
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
const minute = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
const dayMs = 86_400_000

/** The time of the day, with the day if it is another one, and with the year if that is another one. */
export function clockTime(at: string): string {
  const date = new Date(at)
  const present = new Date(presentMs.value)
  if (date.toDateString() === present.toDateString()) return clock.format(date)
  const isThisYear = date.getFullYear() === present.getFullYear()
  return `${isThisYear ? day.format(date) : dayText(at)}, ${clock.format(date)}`
}

export function fullTime(at: string): string {
  return full.format(new Date(at))
}

export function minuteText(at: string): string {
  return minute.format(new Date(at))
}

export function shortDayText(at: string): string {
  return day.format(new Date(at))
}

/** How long ago it was, in the largest unit that fits: `12 s`, `3 min`, `5 h`, `2 d`. */
export function ageOf(at: string): string {
  return durationText(Math.max(0, presentMs.value - new Date(at).getTime()))
}

export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`
  if (ms < dayMs) return `${Math.floor(ms / 3_600_000)} h`
  return `${Math.floor(ms / dayMs)} d`
}

/** A short time with as many digits as tell something: `0.4 ms`, `118 ms`, `2.3 s`. */
export function secondsText(seconds: number): string {
  const ms = seconds * 1_000
  if (ms < 10) return `${ms.toFixed(1)} ms`
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${seconds.toFixed(1)} s`
}

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

export function dayText(at: string): string {
  return date.format(new Date(at))
}
