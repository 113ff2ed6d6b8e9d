import type { HttpLimits } from '../http-limits.ts'
import { Setting, badFrame, badSize, badWindow, defaultWindow, largestWindow } from './frames.ts'
import { maxPayloadBytes, settingsFrame, windowFrame } from './frames.ts'

const settingBytes = 6
const largestPayload = 0xff_ffff

/** The first frames of a connection. */
export function greeting(limits: HttpLimits): string {
  const settings = settingsFrame([
    [Setting.MaxConcurrentStreams, limits.maxConcurrentStreams],
    [Setting.InitialWindowSize, limits.streamWindowBytes],
    [Setting.MaxHeaderListSize, limits.maxHeaderBytes * 2],
    [Setting.EnableConnectProtocol, 1],
  ])
  const more = limits.connectionWindowBytes - defaultWindow
  return more > 0 ? settings + windowFrame(0, more) : settings
}

/**
 * Reads the settings of a client. Returns the window with which its streams begin, if it is among them. The
 * others need nothing: the gateway never pushes, keeps no table of fields and sends the smallest frames.
 */
export function readSettings(bytes: Buffer, from: number, to: number): number | undefined {
  if ((to - from) % settingBytes !== 0) {
    throw badSize('the settings are not whole')
  }
  let window: number | undefined
  for (let at = from; at < to; at += settingBytes) {
    const setting = bytes.readUInt16BE(at)
    const value = bytes.readUInt32BE(at + 2)
    if (setting === Setting.InitialWindowSize) {
      if (value > largestWindow) throw badWindow('a window is too large')
      window = value
    } else if (
      (isSwitch(setting) && value > 1) ||
      (setting === Setting.MaxFrameSize && (value < maxPayloadBytes || value > largestPayload))
    ) {
      throw badFrame('a setting is not valid')
    }
  }
  return window
}

/** Whether the setting is either on or off (RFC 9113, 6.5.2; RFC 8441, 3; RFC 9218, 2.1). */
function isSwitch(setting: number): boolean {
  return (
    setting === Setting.EnablePush ||
    setting === Setting.EnableConnectProtocol ||
    setting === Setting.NoPriorities
  )
}
