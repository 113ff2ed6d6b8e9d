import { consolePages } from './console-pages.mjs'
import { debianPackages } from './debian-packages.mjs'
import { guest } from './guest.mjs'
import { kernel } from './kernel.mjs'
import { loadTools } from './load-tools.mjs'
import { npmPackages } from './npm-packages.mjs'
import { prometheus } from './prometheus.mjs'
import { pythonSdk } from './python-sdk.mjs'
import { registry } from './registry.mjs'
import { sampleImages } from './sample-images.mjs'
import { temporalCli } from './temporal-cli.mjs'
import { temporalServer } from './temporal-server.mjs'
import { testServer } from './test-server.mjs'
import { workflowBundle } from './workflow-bundle.mjs'

/**
 * The things that set-up gets, by the names in `needs.mjs`. The order matters, because later things use what
 * earlier ones found.
 */
export const things = {
  npmPackages,
  debianPackages,
  kernel,
  guest,
  workflowBundle,
  consolePages,
  sampleImages,
  registry,
  temporalCli,
  loadTools,
  prometheus,
  pythonSdk,
  testServer,
  temporalServer,
}
