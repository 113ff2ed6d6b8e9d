import { runUnpackProcess } from '../host/images/unpack-process.ts'

await runUnpackProcess()
