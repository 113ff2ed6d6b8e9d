import process from 'node:process'
import { lockDataDirectory } from '../../src/launch/data-directory.ts'
import { onFirstEndSignal } from '../../src/launch/end-signals.ts'
import { createSupervisor } from '../support/supervised-parts.ts'
import { createFakeParts } from './parts/fake-parts.ts'

/** `halt-platform.ts <directory>` is a platform of two small parts. A test halts it. */
const directory = String(process.argv[2])
const lock = lockDataDirectory(directory)
const fake = createFakeParts(directory)
const agent = fake.part('agent', { leavesVms: true })
const supervisor = createSupervisor(fake.options([fake.part('api'), agent]))
onFirstEndSignal((end) => void supervisor.stop(end).then(() => lock.release()))
await supervisor.start()
process.stdout.write('up\n')
