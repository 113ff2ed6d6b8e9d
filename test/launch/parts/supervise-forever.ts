import { createSupervisor } from '../../support/supervised-parts.ts'
import { createFakeParts } from './fake-parts.ts'

/** `supervise-forever.ts <directory>` is a supervisor of one part. A test kills it. */
const fake = createFakeParts(String(process.argv[2]))
await createSupervisor(fake.options([fake.part('lonely')])).start()
process.stdout.write('up\n')
