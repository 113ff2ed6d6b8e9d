import type { ComponentChildren, VNode } from 'preact'

function icon(children: ComponentChildren): VNode {
  return (
    <svg
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  )
}

export const OverviewIcon = (): VNode => icon(<path d="M3 9.5 10 4l7 5.5M5 8.5V16h10V8.5" />)
export const InstancesIcon = (): VNode =>
  icon(<path d="M3.5 4h13v5h-13zM3.5 11h13v5h-13zM6.5 6.5h.01M6.5 13.5h.01" />)
export const ServicesIcon = (): VNode =>
  icon(
    <path d="M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM3 10h14M10 3c-4.5 4.5-4.5 9.5 0 14 4.5-4.5 4.5-9.5 0-14" />,
  )
export const VolumesIcon = (): VNode =>
  icon(<path d="M4 5.5c0-3.3 12-3.3 12 0s-12 3.3-12 0v9c0 3.3 12 3.3 12 0v-9M4 10c0 3.3 12 3.3 12 0" />)
export const SchedulesIcon = (): VNode =>
  icon(<path d="M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l2.5 2.5" />)
export const ImagesIcon = (): VNode =>
  icon(<path d="m10 3 6.5 3.5v7L10 17l-6.5-3.5v-7zM3.5 6.5 10 10l6.5-3.5M10 10v7" />)
export const CertificatesIcon = (): VNode =>
  icon(<path d="M10 3 4.5 5v5c0 3.5 2.5 6 5.5 7 3-1 5.5-3.5 5.5-7V5zM7.5 10l2 2 3.5-4" />)
export const AccountIcon = (): VNode =>
  icon(<path d="M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 16.5a6 6 0 0 1 12 0" />)
export const AutoscaleIcon = (): VNode => icon(<path d="M4 16v-3M8 16V10M12 16V7M16 16V4" />)
export const HostsIcon = (): VNode => icon(<path d="M5.5 3h9v14h-9zM8 6h4M8 9h4M10 14h.01" />)
export const SearchIcon = (): VNode => icon(<path d="M9 15a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM13.5 13.5 17 17" />)
export const PlusIcon = (): VNode => icon(<path d="M10 4v12M4 10h12" />)
export const PlayIcon = (): VNode => icon(<path d="M6 4.5v11l9-5.5z" />)
export const StopIcon = (): VNode => icon(<path d="M5.5 5.5h9v9h-9z" />)
export const TrashIcon = (): VNode => icon(<path d="M4 6h12M8 6V4h4v2M5.5 6l.7 10h7.6l.7-10" />)
export const CloseIcon = (): VNode => icon(<path d="m5 5 10 10M15 5 5 15" />)
export const SunIcon = (): VNode =>
  icon(
    <path d="M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM10 2.5v1.5M10 16v1.5M2.5 10H4M16 10h1.5M4.7 4.7l1 1M14.3 14.3l1 1M15.3 4.7l-1 1M5.7 14.3l-1 1" />,
  )
export const MoonIcon = (): VNode => icon(<path d="M16 11.5A6.5 6.5 0 0 1 8.5 4a6.5 6.5 0 1 0 7.5 7.5z" />)
export const SystemIcon = (): VNode => icon(<path d="M3 4h14v9H3zM7 16.5h6M10 13v3.5" />)
export const LeaveIcon = (): VNode => icon(<path d="M8 4H4v12h4M12.5 6.5 16 10l-3.5 3.5M16 10H8" />)
export const BackIcon = (): VNode => icon(<path d="M12 4.5 6.5 10l5.5 5.5" />)

export function Mark(): VNode {
  return (
    <svg viewBox="0 0 32 32" fill="none" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M6 21h20" stroke-width="2.4" stroke-linecap="round" />
      <path d="M10 21v-5a6 6 0 0 1 12 0v5" stroke-width="2.4" stroke-linejoin="round" />
      <circle cx="16" cy="25.6" r="1.6" />
    </svg>
  )
}
