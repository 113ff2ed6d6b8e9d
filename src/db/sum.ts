import type { Expression, ExpressionBuilder, ExpressionWrapper, ReferenceExpression, SqlBool } from 'kysely'

/**
 * The sum of whole numbers as an `integer`; 0 if there are none. PostgreSQL's own sum has a larger type and
 * is null if there are none.
 */
export function total<Tables, Table extends keyof Tables>(
  eb: ExpressionBuilder<Tables, Table>,
  summand: ReferenceExpression<Tables, Table>,
  options: { readonly where?: Expression<SqlBool> } = {},
): ExpressionWrapper<Tables, Table, number> {
  const sum = eb.fn.sum(summand)
  const filtered = options.where === undefined ? sum : sum.filterWhere(options.where)
  return eb.cast<number>(eb.fn.coalesce(filtered, eb.lit(0)), 'integer')
}
