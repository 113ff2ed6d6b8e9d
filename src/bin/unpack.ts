import { runUnpackProcess } from '../host/images/unpack-process.ts'
import { leavePlatformGroup } from '../launch/parts/platform-group.ts'

// The process leaves the group while it still is root.
leavePlatformGroup()
await runUnpackProcess()
