/**
 * An application of busybox that tells in each answer which instance it is, and which boot. The same port
 * serves HTTP for the gateway, and lines for those who ask the VM directly. A connection with lines stays
 * open.
 */
export const tellingPort = 8_080

/** Where a volume is mounted, if the instance has one. The first boot leaves its word there. */
export const keptAt = '/data'

const begin = `
boot=$(cat /proc/sys/kernel/random/uuid)
name=$(hostname)
kept=none
if [ -d ${keptAt} ]; then
  [ -s ${keptAt}/first ] || { echo $boot > ${keptAt}/first; sync; }
  kept=$(cat ${keptAt}/first)
fi
read -r since idle < /proc/uptime
export boot name kept since
exec nc -ll -p ${tellingPort} -e sh -c "$TELL"
`

/** Uses nothing but the shell itself for each answer, because the host has other work. */
const tell = `
tell() {
  read -r now idle < /proc/uptime
  answer="$name $boot $since $now $kept"
}
read -r line || exit
tell
case "$line" in
GET*)
  while read -r head && [ \${#head} -gt 1 ]; do :; done
  printf 'HTTP/1.1 200 OK\\r\\ncontent-length: %d\\r\\nconnection: close\\r\\n\\r\\n%s' \${#answer} "$answer"
  ;;
*)
  echo "$answer"
  while read -r line; do tell; echo "$answer"; done
  ;;
esac
`

/** What an instance is created with. */
export const tellingGuest = {
  image: 'busybox',
  args: ['sh', '-c', begin],
  env: { TELL: tell },
}

export interface Told {
  readonly instance: string
  readonly boot: string
  /** How long the application had been running, by the guest's clock. */
  readonly ageMs: number
  /** The word of the boot that began the volume; undefined without a volume. */
  readonly kept: string | undefined
}

/** Undefined for a text that is not the application's, such as a gateway's own answer. */
export function readTold(text: string): Told | undefined {
  const found = /^(\S+) ([0-9a-f-]{36}) ([\d.]+) ([\d.]+) (none|[0-9a-f-]{36})$/.exec(text.trim())
  if (found === null) return undefined
  const [, instance = '', boot = '', since, now, kept] = found
  const ageMs = (Number(now) - Number(since)) * 1_000
  return { instance, boot, ageMs, kept: kept === 'none' ? undefined : kept }
}
