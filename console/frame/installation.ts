import { signal } from '@preact/signals'
import { one } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { publicAddress } from '../../src/domain/service/public-address.ts'
import type { Follower } from '../event/live.ts'
import { api } from './api.ts'

/** How services and the registry are reached. */
export const installation = signal<Entry<'GetInstallationAnswer'> | undefined>(undefined)

/** It changes with the settings of the installation alone, so it is read when everything is. */
export const installationFollower: Follower = {
  async load(signal) {
    installation.value = one(await api.GET('/v1/installation', { signal }))
  },
  heard: () => undefined,
}

/** The address under which a browser opens a domain; undefined until the installation is known. */
export function addressOfDomain(fqdn: string): string | undefined {
  const { value } = installation
  return value === undefined ? undefined : `${publicAddress(fqdn, value.public_port_offset)}/`
}
