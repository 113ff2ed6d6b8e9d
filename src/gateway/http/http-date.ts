let lineSecond = 0
let date = ''
let line = ''

/** Returns the present time as the Date field gives it. It is written once a second. */
export function httpDate(): string {
  const nowMs = Date.now()
  const second = Math.floor(nowMs / 1_000)
  if (second !== lineSecond) {
    lineSecond = second
    date = new Date(nowMs).toUTCString()
    line = `Date: ${date}\r\n`
  }
  return date
}

/** Returns the line of the Date field. */
export function dateLine(): string {
  httpDate()
  return line
}
