/**
 * Whether set-up writes to a terminal. On a terminal it shows one line that changes. Otherwise it prints one
 * line per thing.
 */
const terminal = process.stdout.isTTY ?? false
/** The least time between two printed details of one thing. On a terminal every detail is shown. */
const quietMs = 5_000
const startedAtMs = Date.now()

function seconds(sinceMs) {
  return `${((Date.now() - sinceMs) / 1000).toFixed(1)} s`
}

/** Runs `work` under a title. `work` shows details by calling its argument. */
export async function underTitle({ number, total, title }, work) {
  const sinceMs = Date.now()
  const head = `[${number}/${total}] ${title}`
  let detail = ''
  const draw = () =>
    process.stdout.write(
      `\r\x1b[2K${head} ${detail ? `- ${detail} ` : ''}(${seconds(sinceMs)})`.slice(0, 160),
    )
  const timer = terminal ? setInterval(draw, 250) : undefined
  let saidAtMs = 0
  const say = (text) => {
    detail = text
    if (terminal || Date.now() - saidAtMs < quietMs) return
    saidAtMs = Date.now()
    process.stdout.write(`${head}: ${text}\n`)
  }
  const finish = (mark) => {
    clearInterval(timer)
    process.stdout.write(`${terminal ? '\r\x1b[2K' : ''}${head} ${mark} (${seconds(sinceMs)})\n`)
  }
  try {
    const result = await work(say)
    finish('ok')
    return result
  } catch (error) {
    finish('MISSING')
    throw error
  }
}

export function say(text) {
  process.stdout.write(`${text}\n`)
}

export function totalTime() {
  return seconds(startedAtMs)
}
