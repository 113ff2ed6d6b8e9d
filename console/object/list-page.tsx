import { computed } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { ComponentChildren, VNode } from 'preact'
import { mayOperate, who } from '../account/session.ts'
import { Command } from '../frame/command.tsx'
import { PlusIcon, SearchIcon } from '../frame/icons.tsx'
import { Page } from '../frame/page.tsx'
import { go, place } from '../frame/place.ts'
import { useRowHeight, VirtualRows } from '../frame/virtual-rows.tsx'
import { changeQuery } from '../instance/selection.ts'
import type { ObjectStore } from './store.ts'
import { useShown } from '../event/on-demand.ts'

/** What a row shows of an object. Each list has the same places in its rows. */
export interface RowCells {
  readonly key: string
  readonly name: string
  /** The page that the row opens. */
  readonly address: string | undefined
  readonly state?: ComponentChildren
  readonly about: string
  readonly amount: string
  readonly since?: string
}

export interface ListKind<T> {
  readonly title: string
  /** What the objects are called, as in `3 of 7 services`. */
  readonly plural: string
  readonly store: ObjectStore<T>
  /** The page that makes one, and what its link says. */
  readonly create?: { readonly address: string; readonly label: string }
  /** Whether tokens that are limited to services see some of them. */
  readonly isForLimitedTokens?: boolean
  /** The words above the cells. */
  readonly heads: Readonly<Record<'name' | 'state' | 'about' | 'amount', string>> & {
    readonly since?: string
  }
  readonly cellsOf: (object: T) => RowCells
  readonly empty: {
    readonly title: string
    readonly text: string
    readonly label: string
    readonly command: () => string
  }
  /** What stands above the list. */
  readonly above?: () => ComponentChildren
}

/** All objects of a kind. */
export function ObjectListPage<T>({ kind }: { readonly kind: ListKind<T> }): VNode {
  const { store } = kind
  useShown(store)
  const isEmpty = store.isKnown.value && store.all.value.length === 0
  const { create } = kind
  const mayCreate = create !== undefined && mayOperate.value && who.value?.services === null
  return (
    <Page title={kind.title} fills actions={mayCreate && !isEmpty ? <CreateLink {...create} /> : undefined}>
      {isHidden(kind) ? (
        <Hidden plural={kind.plural} />
      ) : (
        <>
          {store.problem.value !== undefined && <Problem store={store} text={store.problem.value} />}
          {isEmpty ? (
            <Empty kind={kind} mayCreate={mayCreate} />
          ) : (
            <>
              {kind.above?.()}
              <Rows kind={kind} />
            </>
          )}
        </>
      )}
    </Page>
  )
}

function isHidden({ isForLimitedTokens }: Pick<ListKind<never>, 'isForLimitedTokens'>): boolean {
  return isForLimitedTokens !== true && who.value?.services !== null
}

/** What a token that is limited to services reads in the place of what belongs to the account. */
function Hidden({ plural }: { readonly plural: string }): VNode {
  return (
    <section class="card empty">
      <p class="soft">
        This token is limited to some services, and only a token for the whole account sees {plural}.
      </p>
    </section>
  )
}

/** The page of one object that such a token does not see. */
export function HiddenPage(props: { readonly title: string; readonly plural: string }): VNode {
  return (
    <Page title={props.title}>
      <Hidden plural={props.plural} />
    </Page>
  )
}

function Problem(props: { readonly store: Pick<ObjectStore<unknown>, 'refresh'>; readonly text: string }) {
  return (
    <div class="problem" role="alert">
      <span>{props.text}</span>
      <button type="button" class="button quiet" onClick={() => props.store.refresh()}>
        Try again
      </button>
    </div>
  )
}

function CreateLink(props: { readonly address: string; readonly label: string }): VNode {
  return (
    <a class="button main" href={props.address}>
      <PlusIcon />
      {props.label}
    </a>
  )
}

/** What to do if there are none: here, and by the command line. */
function Empty<T>({ kind, mayCreate }: { readonly kind: ListKind<T>; readonly mayCreate: boolean }): VNode {
  const { title, text, label, command } = kind.empty
  return (
    <section class="card empty" aria-labelledby="empty">
      <h2 id="empty">{title}</h2>
      <p class="soft">{text}</p>
      {mayCreate && kind.create !== undefined && <CreateLink {...kind.create} />}
      <p class="soft">By the command line:</p>
      <Command label={label} text={command()} />
    </section>
  )
}

function Rows<T>({ kind }: { readonly kind: ListKind<T> }): VNode {
  const { store } = kind
  const search = place.value.query.get('q') ?? ''
  const all = useMemo(() => computed(() => store.all.value.map(kind.cellsOf)), [kind])
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const rows = all.value
    .filter((cells) => words.every((word) => hasWord(cells, word)))
    .sort((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name)))
  const open = (index: number): void => {
    const address = rows[index]?.address
    if (address !== undefined) go(address)
  }
  return (
    <>
      <div class="filters">
        <label class="search">
          <span class="unseen">Search {kind.plural}</span>
          <SearchIcon />
          <input
            class="input"
            type="search"
            placeholder={`Search ${kind.plural}`}
            value={search}
            onInput={({ currentTarget }) => changeQuery('q', currentTarget.value)}
          />
          <kbd aria-hidden="true">/</kbd>
        </label>
      </div>
      <section class="card list" aria-label={`List of ${kind.plural}`}>
        <p class="bar soft number" aria-live="polite">
          {!store.isKnown.value
            ? 'Reading …'
            : rows.length === all.value.length
              ? `${rows.length} in all`
              : `${rows.length} of ${all.value.length}`}
        </p>
        <VirtualRows
          label={kind.title}
          count={rows.length}
          rowHeight={useRowHeight()}
          head={<Head kind={kind} />}
          keyOf={(index) => rows[index]?.key ?? String(index)}
          row={(index) => rows[index] && <Cells cells={rows[index]} />}
          onOpen={open}
        />
        {store.isKnown.value && rows.length === 0 && (
          <p class="none soft">
            Nothing fits.{' '}
            <button type="button" class="button quiet" onClick={() => changeQuery('q', undefined)}>
              Show all
            </button>
          </p>
        )}
      </section>
    </>
  )
}

function Head({ kind }: { readonly kind: Pick<ListKind<never>, 'heads'> }): VNode {
  const { name, state, about, amount, since } = kind.heads
  return (
    <>
      {(
        [
          ['cell-name', name],
          ['cell-state', state],
          ['cell-address', about],
          ['cell-memory', amount],
          ['cell-since', since],
        ] as const
      ).map(
        ([cell, word]) =>
          word !== undefined && (
            <span key={cell} role="columnheader" class={cell}>
              {word}
            </span>
          ),
      )}
    </>
  )
}

function Cells({ cells }: { readonly cells: RowCells }): VNode {
  const { name, address, state, about, amount, since } = cells
  return (
    <>
      <span role="gridcell" class="cell-name">
        {address === undefined ? (
          name
        ) : (
          <a tabIndex={-1} href={address} onClick={(event) => event.stopPropagation()}>
            {name}
          </a>
        )}
      </span>
      <span role="gridcell" class="cell-state">
        {state}
      </span>
      <span role="gridcell" class="cell-address soft">
        {about}
      </span>
      <span role="gridcell" class="cell-memory soft number">
        {amount}
      </span>
      {since !== undefined && (
        <span role="gridcell" class="cell-since faint number">
          {since}
        </span>
      )}
    </>
  )
}

function hasWord({ key, name, about }: RowCells, word: string): boolean {
  return name.toLowerCase().includes(word) || about.toLowerCase().includes(word) || key.startsWith(word)
}
