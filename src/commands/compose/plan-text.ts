import { isOfLaunch } from './differences.ts'
import type { NewInstanceStep, Plan, PublishStep, Step } from './plan.ts'
import { portText } from './plan.ts'
import { Condition } from './project.ts'

const listed = (words: readonly string[]) => words.join(', ')

/** The lines of a plan. They have names of things, and never the value of a variable. */
export function planText({ steps, orphans }: Pick<Plan, 'steps' | 'orphans'>): string {
  const lines = steps.map((step) => `  ${stepText(step)}`)
  const kept =
    orphans.length === 0
      ? []
      : [`  not in the file any more, and kept: ${listed(orphans)}; --remove-orphans deletes them`]
  return [...lines, ...kept].join('\n')
}

export function stepText(step: Step): string {
  switch (step.kind) {
    case 'create-volume':
      return `+ volume ${step.name}, ${step.sizeMb} MiB`
    case 'create-service':
      return `+ service ${step.name}: ${publishedText(step)}`
    case 'change-service':
      return `~ service ${step.name}: ${publishedText(step)}`
    case 'create-instance':
      return `+ instance ${step.name}: ${madeText(step)}`
    case 'replace-instance':
      return `± instance ${step.name}: is deleted and made again, because ${step.why ?? ''}; it is away meanwhile`
    case 'change-instance':
      return `~ instance ${step.name}: ${listed(step.differences)}${restartText(step)}`
    case 'roll-out': {
      const waits = step.hasVolume ? 'requests wait while it gets the volume' : 'requests go on meanwhile'
      return `~ service ${step.name}: ${listed(step.differences)}; it is rolled out, and ${waits}`
    }
    case 'start-instance':
      return `~ instance ${step.name}: is started`
    case 'await':
      return `… until ${step.key} ${step.condition === Condition.Healthy ? 'is healthy' : 'has completed'}`
    case 'set-autoscale':
      return `~ service ${step.name}: ${step.autoscale.min} to ${step.autoscale.max} instances by ${step.autoscale.metric}`
    case 'remove-autoscale':
      return `~ service ${step.name}: is not scaled any more`
    case 'delete-instance':
      return `- instance ${step.name}`
    case 'delete-service':
      return `- service ${step.name}`
    case 'delete-volume':
      return `- volume ${step.name}, with what is on it`
    default:
      return step satisfies never
  }
}

/** What a step did, for the line that is written when it is done. */
export function doneText(step: Step): string {
  switch (step.kind) {
    case 'create-volume':
    case 'create-service':
      return `${step.name} is created`
    case 'create-instance':
      return `${step.name} runs`
    case 'change-service':
    case 'change-instance':
      return `${step.name} is changed`
    case 'roll-out':
      return `${step.name} is rolled out`
    case 'replace-instance':
      return `${step.name} is made again, and runs`
    case 'start-instance':
      return `${step.name} is started`
    case 'await':
      return `${step.key} ${step.condition === Condition.Healthy ? 'is healthy' : 'has completed'}`
    case 'set-autoscale':
      return `${step.name} is scaled`
    case 'remove-autoscale':
      return `${step.name} is not scaled any more`
    case 'delete-instance':
    case 'delete-service':
    case 'delete-volume':
      return `${step.name} is deleted`
    default:
      return step satisfies never
  }
}

function publishedText({ ports, domains }: PublishStep): string {
  const text = listed(ports.map((port) => portText(port)))
  return domains === undefined ? text : `${text}; ${listed(domains)}`
}

function madeText({ configuration, mount }: NewInstanceStep): string {
  const { image, memoryMb, vcpus } = configuration
  const volume = mount === undefined ? [] : [`${mount.volume} at ${mount.at}`]
  const processors = `${vcpus} ${vcpus === 1 ? 'processor' : 'processors'}`
  return listed([shortImage(image), `${memoryMb} MiB`, processors, ...volume])
}

function shortImage(image: string): string {
  return image.replace(/(@sha256:[0-9a-f]{12})[0-9a-f]+$/, '$1')
}

function restartText({
  differences,
  isStopped,
}: Pick<Extract<Step, { kind: 'change-instance' }>, 'differences' | 'isStopped'>): string {
  if (isStopped) return '; it is started'
  return differences.some(isOfLaunch) ? '; it is restarted, and requests wait meanwhile' : ''
}
