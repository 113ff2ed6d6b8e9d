import type { VNode } from 'preact'
import { CertificatePage } from '../certificate/certificate-page.tsx'
import { CertificatesPage } from '../certificate/list-page.tsx'
import { certificates } from '../certificate/store.ts'
import { UploadCertificatePage } from '../certificate/upload-page.tsx'
import { HostPage } from '../host/host-page.tsx'
import { InvitePage } from '../host/invite-page.tsx'
import { HostsPage } from '../host/list-page.tsx'
import { hosts } from '../host/store.ts'
import { images, ImagesPage } from '../image/list-page.tsx'
import { CreateSchedulePage } from '../schedule/create-page.tsx'
import { SchedulesPage } from '../schedule/list-page.tsx'
import { SchedulePage } from '../schedule/schedule-page.tsx'
import { schedules } from '../schedule/store.ts'
import { CreateServicePage } from '../service/create-page.tsx'
import { ServicesPage } from '../service/list-page.tsx'
import { ServicePage } from '../service/service-page.tsx'
import { services } from '../service/store.ts'
import { CreateVolumePage } from '../volume/create-page.tsx'
import { VolumesPage } from '../volume/list-page.tsx'
import { volumes } from '../volume/store.ts'
import { VolumePage } from '../volume/volume-page.tsx'
import { CreateUserPage } from '../user/create-page.tsx'
import { UsersPage } from '../user/list-page.tsx'
import { users } from '../user/store.ts'
import { UserPage } from '../user/user-page.tsx'

/** The stores of what the pages below show. */
export const stores = [services, volumes, schedules, images, certificates, users, hosts]

interface Pages {
  readonly list: () => VNode
  readonly create?: () => VNode
  readonly present?: (props: { readonly uuid: string; readonly part?: string }) => VNode
}

const pages: ReadonlyMap<string, Pages> = new Map<string, Pages>([
  ['services', { list: ServicesPage, create: CreateServicePage, present: ServicePage }],
  ['volumes', { list: VolumesPage, create: CreateVolumePage, present: VolumePage }],
  ['schedules', { list: SchedulesPage, create: CreateSchedulePage, present: SchedulePage }],
  ['images', { list: ImagesPage }],
  ['certificates', { list: CertificatesPage, create: UploadCertificatePage, present: CertificatePage }],
  ['hosts', { list: HostsPage, create: InvitePage, present: HostPage }],
  ['users', { list: UsersPage, create: CreateUserPage, present: UserPage }],
])

/**
 * The page at an address such as `services`, `services/new`, `services/<uuid>` or `services/<uuid>/change`.
 * Hosts have their names in the place of UUIDs.
 */
export function objectPage(
  name: string,
  object: string | undefined,
  part: string | undefined,
): VNode | undefined {
  const { list: List, create: Create, present: Present } = pages.get(name) ?? {}
  if (object === undefined) return List && <List key={name} />
  if (object === 'new') return Create && <Create key={name} />
  return Present && <Present key={object} uuid={object} {...(part !== undefined && { part })} />
}
