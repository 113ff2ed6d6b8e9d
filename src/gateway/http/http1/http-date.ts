let lineSecond = 0
let line = ''

/** Returns the line of the Date field. It is made once a second. */
export function dateLine(): string {
  const nowMs = Date.now()
  const second = Math.floor(nowMs / 1_000)
  if (second !== lineSecond) {
    lineSecond = second
    line = `Date: ${new Date(nowMs).toUTCString()}\r\n`
  }
  return line
}
