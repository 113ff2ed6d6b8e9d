import type { ApiClient } from '../../test/support/api-client.ts'

/** Hostile instances of one kind: how many there are, and what each is created with. */
interface Kind {
  readonly count: number
  readonly body: Readonly<Record<string, unknown>>
}

const fillMb = 256
const shell = (script: string, wishes: Readonly<Record<string, unknown>> = {}) => ({
  image: 'busybox',
  args: ['sh', '-c', script],
  ...wishes,
})

/** Instances that sleep beside the hostile ones. */
export const sleeperCount = 12

/** All hostile instances. With the sleeping ones they are as many as a new user's quota permits. */
const kinds: Readonly<Record<string, Kind>> = {
  spin: { count: 28, body: shell('while :; do :; done') },
  memory: {
    count: 4,
    body: shell('while :; do dd if=/dev/zero of=/dev/shm/fill bs=1M; rm /dev/shm/fill; done', {
      memory_mb: 512,
    }),
  },
  disk: {
    count: 4,
    body: shell(`while :; do dd if=/dev/zero of=/data/fill bs=1M count=${fillMb}; sync; done`, {
      volumes: [{ size_mb: 2 * fillMb, at: '/data' }],
    }),
  },
  flows: {
    count: 4,
    // The instance's nameserver is its host, which accepts TCP too. Each connection counts as a flow.
    body: shell(
      `host=$(awk '/nameserver/ {print $2}' /etc/resolv.conf); while :; do for i in 1 2 3 4 5 6 7 8; do nc -w 2 $host 53 < /dev/null & done; wait; done`,
    ),
  },
  names: {
    count: 4,
    body: shell(
      'n=0; while :; do n=$((n + 1)); nslookup n$n.example.com > /dev/null & [ $((n % 16)) = 0 ] && wait; done',
    ),
  },
  shout: {
    count: 4,
    body: shell('while :; do echo +1; echo -1; done > "$ROOST_SCALE_TO_ZERO_FILE"'),
  },
  print: { count: 4, body: shell('yes "a line that nobody reads"') },
}

export interface HostileGuests {
  readonly asked: number
  /** The platform's reasons for refusing instances, each text once. */
  readonly refusals: readonly string[]
}

/**
 * Creates all hostile instances at once and waits for none of them, because so many starts at once are part
 * of the attack.
 */
export async function startHostileGuests(
  api: ApiClient,
  only: readonly string[] = Object.keys(kinds),
): Promise<HostileGuests> {
  const wanted = Object.entries(kinds).filter(([name]) => only.includes(name))
  const refusals = await Promise.all(wanted.flatMap(([name, kind]) => callsOf(name, kind)).map(askFor))
  const asked = wanted.reduce((sum, [, { count }]) => sum + count, 0)
  return { asked, refusals: [...new Set(refusals.flat())] }

  async function askFor(body: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
    const { entries, errors } = await api.attempt('createInstances', { body })
    const refused = entries.flatMap((entry) => ('error' in entry ? [entry.message] : []))
    return [...refused, ...errors.map(({ message }) => message)]
  }
}

function callsOf(name: string, { count, body }: Kind): readonly Readonly<Record<string, unknown>>[] {
  const call = (index: number, replicas: number) => {
    return { name: `${name}-${letterOf(index)}`, autostart: true, replicas, ...body }
  }
  // A volume belongs to one instance, so replicas can not share it: each of these instances has a call of its
  // own.
  return 'volumes' in body
    ? Array.from({ length: count }, (_, index) => call(index, 0))
    : [call(0, count - 1)]
}

function letterOf(index: number): string {
  return String.fromCodePoint(97 + index)
}
