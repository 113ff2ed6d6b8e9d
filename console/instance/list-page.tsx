import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { mayOperate } from '../account/session.ts'
import { apiAddress, Command } from '../frame/command.tsx'
import { Confirmation } from '../frame/dialog.tsx'
import { PlusIcon, SearchIcon } from '../frame/icons.tsx'
import { Page } from '../frame/page.tsx'
import { addressOf, go } from '../frame/place.ts'
import { ageOf } from '../frame/time.ts'
import { useRowHeight, VirtualRows } from '../frame/virtual-rows.tsx'
import { act, Action } from './actions.ts'
import { moods, moodWords } from './mood.ts'
import type { Instance } from './mood.ts'
import { addressText, changeQuery, chosen, imageName, Order, order, search } from './selection.ts'
import { selected, shown, sinceOf, toggle, toggleAll, wantedMood } from './selection.ts'
import { StateSign } from './state-sign.tsx'
import { areInstancesKnown, instances, moodCounts } from './store.ts'

/** All instances of the account. */
export function InstancesPage(): VNode {
  const isEmpty = areInstancesKnown.value && instances.value.size === 0
  return (
    <Page title="Instances" fills actions={mayOperate.value ? <CreateLink /> : undefined}>
      {isEmpty ? (
        <NoInstances />
      ) : (
        <>
          <Filters />
          <InstanceRows />
        </>
      )}
    </Page>
  )
}

export function CreateLink(): VNode {
  return (
    <a class="button main" href={addressOf('instances', 'new')}>
      <PlusIcon />
      Create an instance
    </a>
  )
}

/** What to do if there are none: here, and by the command line. */
export function NoInstances(): VNode {
  const body = `{"name":"hello","image":"hello:latest","autostart":true}`
  return (
    <section class="card empty" aria-labelledby="no-instances">
      <h2 id="no-instances">Nothing runs here yet</h2>
      <p class="soft">
        An instance is your application in a small virtual machine of its own. Give it an image; it is up in
        about a second.
      </p>
      {mayOperate.value && <CreateLink />}
      <p class="soft">The same by the command line, with your token in $TOKEN:</p>
      <Command
        label="the command that creates an instance"
        text={`curl -H "Authorization: Bearer $TOKEN" ${apiAddress()}/instances \\\n  -d '${body}'`}
      />
    </section>
  )
}

function Filters(): VNode {
  const counts = moodCounts.value
  return (
    <div class="filters">
      <label class="search">
        <span class="unseen">Search instances</span>
        <SearchIcon />
        <input
          class="input"
          type="search"
          placeholder="Search by name, image or address"
          value={search.value}
          onInput={({ currentTarget }) => changeQuery('q', currentTarget.value)}
        />
        <kbd aria-hidden="true">/</kbd>
      </label>
      <div class="chips" role="group" aria-label="Show instances by state">
        {moods.map((mood) => (
          <button
            key={mood}
            type="button"
            class={`chip ${mood}`}
            aria-pressed={wantedMood.value === mood}
            onClick={() => changeQuery('state', wantedMood.value === mood ? undefined : mood)}
          >
            <span class="dot" />
            {moodWords[mood]} <span class="number">{counts[mood]}</span>
          </button>
        ))}
      </div>
    </div>
  )
}

function InstanceRows(): VNode {
  const rows = shown.value
  const height = useRowHeight()
  const open = (index: number): void => {
    const instance = rows[index]
    if (instance !== undefined) go(addressOf('instances', instance.uuid))
  }
  return (
    <section class="card list" aria-label="List of instances">
      {chosen.value.length > 0 ? <SelectionBar /> : <Summary />}
      <VirtualRows
        label="Instances"
        count={rows.length}
        rowHeight={height}
        head={<Head />}
        keyOf={(index) => rows[index]?.uuid ?? String(index)}
        row={(index) => rows[index] && <Cells instance={rows[index]} />}
        onOpen={open}
        onSelect={(index) => rows[index] && toggle(rows[index].uuid)}
        isSelected={(index) => selected.value.has(rows[index]?.uuid ?? '')}
      />
      {areInstancesKnown.value && rows.length === 0 && (
        <p class="none soft">
          No instance fits.{' '}
          <button
            type="button"
            class="button quiet"
            onClick={() => {
              changeQuery('q', undefined)
              changeQuery('state', undefined)
            }}
          >
            Show all
          </button>
        </p>
      )}
    </section>
  )
}

function Summary(): VNode {
  const [all, some] = [instances.value.size, shown.value.length]
  return (
    <p class="bar soft number" aria-live="polite">
      {areInstancesKnown.value ? (some === all ? `${all} in all` : `${some} of ${all}`) : 'Reading …'}
    </p>
  )
}

function SelectionBar(): VNode {
  const [asks, setAsks] = useState(false)
  const targets = chosen.value
  const run = (action: Action): void => {
    selected.value = new Set()
    void act(action, targets)
  }
  const what = targets.length === 1 ? targets[0]?.name : `${targets.length} instances`
  return (
    <div class="bar">
      <span class="number">{targets.length} selected</span>
      <button
        type="button"
        class="button quiet"
        disabled={!mayOperate.value}
        onClick={() => run(Action.Start)}
      >
        Start
      </button>
      <button
        type="button"
        class="button quiet"
        disabled={!mayOperate.value}
        onClick={() => run(Action.Stop)}
      >
        Stop
      </button>
      <button
        type="button"
        class="button quiet"
        disabled={!mayOperate.value}
        onClick={() => run(Action.Suspend)}
      >
        Suspend
      </button>
      <button
        type="button"
        class="button quiet danger"
        disabled={!mayOperate.value}
        onClick={() => setAsks(true)}
      >
        Delete
      </button>
      <button type="button" class="button quiet" onClick={() => (selected.value = new Set())}>
        Select none
      </button>
      {asks && (
        <Confirmation
          title={`Delete ${what}?`}
          text="What runs is stopped by force, and what is not on a volume is lost. This can not be taken back."
          action="Delete"
          onConfirm={() => run(Action.Delete)}
          onClose={() => setAsks(false)}
        />
      )}
    </div>
  )
}

function Head(): VNode {
  const all = shown.value.length > 0 && shown.value.every(({ uuid }) => selected.value.has(uuid))
  return (
    <>
      <span role="columnheader" class="cell-check">
        <input type="checkbox" aria-label="Select all that are shown" checked={all} onChange={toggleAll} />
      </span>
      <OrderHead by={Order.Name} label="Name" name="cell-name" />
      <OrderHead by={Order.State} label="State" name="cell-state" />
      <span role="columnheader" class="cell-address">
        Address
      </span>
      <span role="columnheader" class="cell-image">
        Image
      </span>
      <span role="columnheader" class="cell-memory">
        Memory
      </span>
      <OrderHead by={Order.Since} label="Since" name="cell-since" />
    </>
  )
}

function OrderHead(props: { readonly by: Order; readonly label: string; readonly name: string }): VNode {
  const isOrder = order.value === props.by
  return (
    <span
      role="columnheader"
      class={props.name}
      aria-sort={isOrder ? (props.by === Order.Since ? 'descending' : 'ascending') : 'none'}
    >
      <button type="button" class="order" onClick={() => changeQuery('by', props.by)}>
        {props.label}
        <span aria-hidden="true">{isOrder ? ' ↓' : ''}</span>
      </button>
    </span>
  )
}

function Cells({ instance }: { readonly instance: Instance }): VNode {
  const since = sinceOf(instance)
  return (
    <>
      <span role="gridcell" class="cell-check" onClick={(event) => event.stopPropagation()}>
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Select ${instance.name}`}
          checked={selected.value.has(instance.uuid)}
          onChange={() => toggle(instance.uuid)}
        />
      </span>
      <span role="gridcell" class="cell-name">
        <a
          tabIndex={-1}
          href={addressOf('instances', instance.uuid)}
          onClick={(event) => event.stopPropagation()}
        >
          {instance.name}
        </a>
      </span>
      <span role="gridcell" class="cell-state">
        <StateSign instance={instance} />
      </span>
      <span role="gridcell" class="cell-address soft">
        {addressText(instance)}
      </span>
      <span role="gridcell" class="cell-image soft">
        {imageName(instance)}
      </span>
      <span role="gridcell" class="cell-memory soft number">
        {instance.memory_mb} MiB
      </span>
      <span role="gridcell" class="cell-since faint number">
        {since === undefined ? '' : ageOf(since)}
      </span>
    </>
  )
}
