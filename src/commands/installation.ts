import { one } from '../client/answers.ts'
import type { Entry } from '../client/answers.ts'
import type { ApiClient } from '../client/client.ts'

/** What clients have to know of the installation. */
export async function installationOf(client: ApiClient): Promise<Entry<'GetInstallationAnswer'>> {
  return one(await client.GET('/v1/installation'))
}
