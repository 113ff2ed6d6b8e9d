import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import path from 'node:path'
import { settingsTable } from '../../src/settings/settings.ts'
import { assertNone } from './assert-none.ts'
import { checkout, isFile, textOf, writtenFiles } from './sources.ts'

const documents = writtenFiles().filter((file) => file.endsWith('.md'))
const requiredDocuments = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'docs/settings.md',
]

interface PackageFile {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
}
const packageFile = JSON.parse(textOf('package.json')) as PackageFile

describe('documents', () => {
  for (const name of requiredDocuments) {
    it(`include ${name}`, () => assert.ok(isFile(name)))
  }

  it('link to files and folders that exist', () => {
    const broken = documents.flatMap((file) =>
      [...textOf(file).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)]*)?\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => globSync(path.join(path.dirname(file), target), { cwd: checkout }).length === 0)
        .map((target) => `${file}: ${target}`),
    )
    assertNone(broken)
  })

  it('name files of the checkout only where there are such files', () => {
    const missing = documents.flatMap((file) =>
      [
        ...textOf(file).matchAll(
          /`((?:src|workflows|activities|test|guest|docs|setup|bench)\/[\w./-]+\.\w+)`/g,
        ),
      ]
        .map(([, target = '']) => target)
        .filter((target) => !isFile(target))
        .map((target) => `${file}: ${target}`),
    )
    assertNone(missing)
  })

  it('run only scripts that the package has', () => {
    const unknown = documents.flatMap((file) =>
      [...textOf(file).matchAll(/\bnpm run ([\w:-]+)/g)]
        .map(([, script = '']) => script)
        .filter((script) => packageFile.scripts[script] === undefined)
        .map((script) => `${file}: npm run ${script}`),
    )
    assertNone(unknown)
  })

  it('describe every setting', function () {
    if (!isFile('docs/settings.md')) assert.fail('docs/settings.md is missing')
    const text = textOf('docs/settings.md')
    const undocumented = Object.values(settingsTable)
      .map((setting) => setting.name)
      .filter((name) => !text.includes(name))
    assertNone(undocumented)
  })

  it('list every user-visible release in the change log', () => {
    const { version } = JSON.parse(textOf('package.json')) as { version: string }
    assert.match(textOf('CHANGELOG.md'), new RegExp(`^## ${version.replaceAll('.', '\\.')}\\b`, 'm'))
  })
})

describe('packages', () => {
  it('are pinned to one exact version', () => {
    const all = {
      ...packageFile.dependencies,
      ...packageFile.devDependencies,
      ...packageFile.optionalDependencies,
    }
    const loose = Object.entries(all).filter(
      ([, version]) => !/^(npm:[\w@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    )
    assertNone(loose.map(([name, version]) => `${name} ${version}`))
  })

  it('contain one copy of protobufjs, because two copies do not take each other’s histories', () => {
    const copies = globSync('node_modules/{protobufjs,**/node_modules/protobufjs}/package.json', {
      cwd: checkout,
    })
    assert.deepEqual(copies, ['node_modules/protobufjs/package.json'])
  })

  it('that the product imports are listed as its dependencies', () => {
    const used = new Set(
      writtenFiles()
        .filter((file) => /^(src|workflows|activities)\/.*\.ts$/.test(file))
        // Scripts that write committed files may use development tools.
        .filter((file) => !path.basename(file).startsWith('write-'))
        .flatMap((file) => [...textOf(file).matchAll(/\bfrom '((?:@[\w-]+\/)?[\w-]+)[^']*'/g)])
        .map(([, name = '']) => name)
        .filter((name) => name !== 'node'),
    )
    const undeclared = [...used].filter((name) => packageFile.dependencies[name] === undefined)
    assertNone(undeclared)
  })
})
