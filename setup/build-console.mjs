import { readFile, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'esbuild'

/**
 * Run with Node 24: `build-console.mjs <output directory>`. Writes the pages, and their texts compressed
 * besides.
 */
const console = path.resolve(import.meta.dirname, '..', 'console')
const directory = process.argv[2]
/** Fonts are compressed already. */
const compressible = /\.(html|js|css|svg)$/

const { metafile } = await build({
  absWorkingDir: console,
  entryPoints: { app: 'main.tsx', style: 'styles/console.css', mark: 'mark.svg' },
  outdir: path.join(directory, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: ['chrome125', 'firefox128', 'safari17.5'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  metafile: true,
  legalComments: 'none',
  loader: { '.woff2': 'file', '.svg': 'copy' },
  logLevel: 'warning',
})

const template = await readFile(path.join(console, 'index.html'), 'utf8')
await writeFile(
  path.join(directory, 'index.html'),
  template.replaceAll(/\{(\S+)\}/g, (_, name) => built(name)),
)
for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
  if (entry.isFile() && compressible.test(entry.name)) await compress(path.join(entry.parentPath, entry.name))
}

/** The name of the file that was made of a source, below the output directory. */
function built(source) {
  const outputs = Object.entries(metafile.outputs)
  const [name] =
    outputs.find(([, output]) => output.entryPoint === source) ??
    outputs.find(([, { inputs }]) => Object.keys(inputs).join() === source) ??
    []
  if (name === undefined) throw new Error(`index.html names ${source}, which is no part of the pages`)
  return path.relative(directory, path.resolve(console, name))
}

async function compress(file) {
  const bytes = await readFile(file)
  const best = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }
  await writeFile(`${file}.br`, await promisify(brotliCompress)(bytes, best))
  await writeFile(`${file}.gz`, await promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }))
}
