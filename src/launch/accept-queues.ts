import { writeFileSync } from 'node:fs'

const file = '/proc/sys/net/ipv4/tcp_migrate_req'

/**
 * Has the kernel give connections that wait at a port to another process on the same port when their own
 * process stops listening (Linux 5.14). Otherwise it resets them, and each hand-over of the gateway could
 * break some. The setting holds for the network namespace of the caller. Without root it can not be set;
 * `docs/operations.md` says what an operator can do.
 */
export function keepAcceptedConnections(): void {
  try {
    writeFileSync(file, '1')
  } catch {
    // The kernel does not have the setting, or this process may not change it. The stack works without it.
  }
}
