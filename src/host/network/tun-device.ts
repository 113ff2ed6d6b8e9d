import { chmod, stat } from 'node:fs/promises'

const tunDevice = '/dev/net/tun'
const everyoneMode = 0o666

/**
 * Gives the TUN device udev's usual mode, 0666, if a host without udev left it closed. `peer-watch` is not
 * root and opens the device for each instance in standby. The mode is safe, because the kernel gives a user
 * only the TAPs that belong to it. VMs do not see the file; they get their devices as open descriptors.
 */
export async function openTunDevice(warn: (message: string) => void): Promise<void> {
  const { mode } = await stat(tunDevice)
  if ((mode & everyoneMode) === everyoneMode) return
  await chmod(tunDevice, everyoneMode)
  warn(
    `${tunDevice} was closed to the program that watches instances in standby; it has udev's usual mode 0666 now`,
  )
}
