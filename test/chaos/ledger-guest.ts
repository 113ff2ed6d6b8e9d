/**
 * An application of busybox that promises something with each answer: a number that it has counted up, or
 * the sum of a file that it keeps. Both are on its volume if it has one, and in its memory otherwise. It
 * answers once they are stored.
 */
export const ledgerPort = 8_080

/** Where a volume is mounted, if the instance has one. */
export const ledgerAt = '/data'

const begin = `
boot=$(cat /proc/sys/kernel/random/uuid)
name=$(hostname)
at=/tmp
[ -d ${ledgerAt} ] && at=${ledgerAt}
[ -s $at/number ] || { echo 0 > $at/number; sync; }
export boot name at
exec nc -ll -p ${ledgerPort} -e sh -c "$ANSWER"
`

/** What is not stored is not answered. The lock is in memory, so no boot finds that of another one. */
const answer = `
tell() {
  printf 'HTTP/1.1 200 OK\\r\\ncontent-length: %d\\r\\nconnection: close\\r\\n\\r\\n%s' \${#1} "$1"
}
read -r method path version || exit
length=0
while read -r key value && [ \${#key} -gt 1 ]; do
  case "$key" in [Cc]ontent-[Ll]ength:) length=\${value%?} ;; esac
done
case "$method $path" in
"GET /next")
  until mkdir /tmp/lock 2>/dev/null; do usleep 20000; done
  number=$(cat $at/number) && [ -n "$number" ] &&
    number=$((number + 1)) && echo $number > $at/new && mv $at/new $at/number && sync && stored=yes
  rmdir /tmp/lock
  [ "$stored" = yes ] && tell "$name $boot $number"
  ;;
"POST /keep/"*)
  file=$at/keep-\${path#/keep/}
  head -c $length > $file.$$ && [ $(stat -c %s $file.$$) = $length ] && mv $file.$$ $file && sync &&
    sum=$(sha256sum < $file) && tell "\${sum%% *}"
  ;;
"GET /keep/"*)
  sum=$(sha256sum < $at/keep-\${path#/keep/}) && tell "\${sum%% *}"
  ;;
esac
`

/** What an instance is created with. */
export const ledgerGuest = {
  image: 'busybox',
  args: ['sh', '-c', begin],
  env: { ANSWER: answer },
}

export interface Counted {
  readonly instance: string
  /** A random word of the boot. A memory that is kept keeps it. */
  readonly boot: string
  readonly number: number
}

/** Undefined for a text that is not the application's. */
export function readCounted(text: string): Counted | undefined {
  const [, instance, boot, number] = /^(\S+) ([0-9a-f-]{36}) (\d+)$/.exec(text.trim()) ?? []
  if (instance === undefined || boot === undefined) return undefined
  return { instance, boot, number: Number(number) }
}
