import { runUnpackProcess } from '../host/images/unpack-process.ts'
import { leavePlatformGroup } from '../launch/parts/platform-group.ts'

// While it is root still.
leavePlatformGroup()
await runUnpackProcess()
