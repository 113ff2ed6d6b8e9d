import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { settingsDocument } from './settings-document.ts'

writeFileSync(path.resolve(import.meta.dirname, '../../docs/settings.md'), settingsDocument())
