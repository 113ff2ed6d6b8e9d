import assert from 'node:assert/strict'
import { harmOf } from '../support/gentle-migration.ts'

describe('a migration', () => {
  for (const statement of [
    'alter table nodes add draining_at timestamptz(3) null',
    `alter table instances add "move" jsonb null`,
    `alter table instances add column "seat" text not null default ''`,
    'create table things (id uuid primary key, name text not null unique)',
    'create index things_index on things (name)',
    'drop index things_index',
    `insert into things values (1, 'drop column')`.replace('drop column', 'a'),
    `update nodes set roles = '{}' where roles is null`,
    'alter table nodes drop constraint nodes_state_check',
  ])
    it(`leaves the version before working with ${statement}`, () => {
      assert.equal(harmOf(statement), undefined)
    })

  for (const [statement, why] of [
    ['alter table nodes drop column labels', /takes away/],
    ['drop table things', /takes away/],
    ['alter table nodes rename column labels to notes', /old name/],
    ['alter table nodes rename to machines', /old name/],
    ['alter table nodes alter column labels set not null', /write nothing/],
    ['alter table nodes add labels jsonb not null', /no default/],
    [`alter table nodes add column "labels" jsonb not null`, /no default/],
    ['alter table nodes alter column labels type text', /old type/],
    [`alter table nodes add constraint c check (state in ('live'))`, /constraint/],
    ['create unique index one on nodes (name)', /index/],
  ] as const)
    it(`is found out that would break the version before: ${statement}`, () => {
      assert.match(harmOf(statement) ?? 'nothing', why)
    })
})
