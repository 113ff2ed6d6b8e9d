import path from 'node:path'
import { run, which } from './command.mjs'
import { Missing } from './missing.mjs'
import { cache, checkout } from './paths.mjs'
import { directoryOnce } from './replace.mjs'
import { hashOf } from './stamp.mjs'

const requirements = path.join(checkout, 'setup', 'python-sdk.txt')
/** The exact files of `python-sdk.txt`, and nothing that would have to be built. */
const fromFile = ['--require-hashes', '--no-deps', '--only-binary', ':all:', '--requirement', requirements]
const quietly = ['--quiet', '--disable-pip-version-check', '--no-warn-script-location']
const install = ['-m', 'pip', 'install', ...quietly, ...fromFile]

/**
 * The SDK in Python that people point at this API, in a directory that is given to Python as PYTHONPATH. One
 * of its packages is compiled for one version of Python, so the directory is named by that version too.
 */
export const pythonSdk = {
  title: 'Python SDK (tests)',
  async bring({ say }) {
    try {
      const python = await which('python3')
      const version = (await run(python, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'])).trim()
      const name = `python-sdk-${hashOf([requirements])}-${version}-${process.arch}`
      const directory = await directoryOnce(path.join(cache, name), (into) =>
        run(python, [...install, '--target', into], { onLine: say }),
      )
      return { paths: { pythonSdk: directory, python } }
    } catch (cause) {
      throw new Missing({
        what: 'unikraft-cloud for Python',
        why: 'the tests call the API with it',
        command: 'apt-get install -y python3 python3-pip, then npm run setup -- --tests',
        cause,
      })
    }
  },
}
