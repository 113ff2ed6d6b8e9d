import { defineSearchAttributeKey } from '@temporalio/common'

/**
 * The attributes by which people find workflows in Temporal's Web UI. They hold coarse facts only; the row
 * in PostgreSQL has the rest.
 */
export const userAttribute = defineSearchAttributeKey('RoostUser', 'KEYWORD')
export const stateAttribute = defineSearchAttributeKey('RoostState', 'KEYWORD')
export const nodeAttribute = defineSearchAttributeKey('RoostNode', 'KEYWORD')
