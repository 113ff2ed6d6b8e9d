import { readFileSync } from 'node:fs'
import path from 'node:path'
import { ownCheckout } from './own-checkout.ts'

/**
 * The absolute paths of what set-up found or made. `setup/setup.mjs` writes them to `.roost-setup.json` in
 * the checkout, and only this file reads them.
 */
export interface Installed {
  readonly temporalCli?: string
  /** Debian's `docker-registry` binary. */
  readonly registry?: string
  readonly qemu?: string
  /** The directory with `vmlinux`, initrd and keeper, as `guest/build.mjs` made them. */
  readonly guestDirectory?: string
  /** The directory with `boot/vmlinuz-*` and `lib/modules/*` of the kernel package, extracted. */
  readonly kernelDirectory?: string
  /** The bundle of the workflows, for the worker. */
  readonly workflowBundle?: string
  /** The directory with the pages of the console, for the API. */
  readonly consolePages?: string
  /** The directory with the OCI layouts of the official images. */
  readonly sampleImages?: string
  /**
   * The directory with the reference proxies and h2load, extracted. It exists only after `setup --tests` or
   * `setup --bench gateway`.
   */
  readonly loadTools?: string
  /**
   * This path and the next ones exist only after `setup --tests`. It is the directory of `prometheus` and
   * `promtool`.
   */
  readonly prometheus?: string
  readonly python?: string
  /** The directory of the Python SDK and of the packages that it needs, for PYTHONPATH. */
  readonly pythonSdk?: string
  readonly testServer?: string
  readonly temporalServer?: string
  readonly temporalSqlTool?: string
  /**
   * The directory with the PostgreSQL schema of the production server: `temporal/versioned` and
   * `visibility/versioned`.
   */
  readonly temporalSchema?: string
}

/** Set-up has not installed something that the stack needs. */
export class NotInstalled extends Error {
  override readonly name = 'NotInstalled'
}

export const setupFileName = '.roost-setup.json'

/** Reads the paths. Throws `NotInstalled` if set-up never ran. */
export function readInstalled(checkout: string = ownCheckout): Installed {
  const file = path.join(checkout, setupFileName)
  try {
    const { paths } = JSON.parse(readFileSync(file, 'utf8')) as { readonly paths: Installed }
    return paths
  } catch (cause) {
    throw new NotInstalled(`${file} can not be read; set-up makes it: npm run setup`, { cause })
  }
}

/** The path of one installed thing, or an error that says how to get it. */
export function requireInstalled(installed: Installed, name: keyof Installed): string {
  const found = installed[name]
  if (found === undefined) {
    throw new NotInstalled(`${name} is not installed; see what set-up says: npm run setup`)
  }
  return found
}
