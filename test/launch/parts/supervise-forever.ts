import { createSupervisor } from '../../../src/launch/parts/supervisor.ts'
import { createFakeParts } from './fake-parts.ts'

/** `supervise-forever.ts <directory>`: a supervisor of one part, to be killed. */
const fake = createFakeParts(String(process.argv[2]))
await createSupervisor(fake.options([fake.part('lonely')])).start()
process.stdout.write('up\n')
