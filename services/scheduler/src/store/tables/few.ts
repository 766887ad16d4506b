/**
 * A condition that every id meets. The planner has no statistics of a parameter's columns, so it assumes that few rows are in
 * a range with literal bounds, and looks each of them up by its key. Otherwise it may scan a whole table for them.
 */
export const few = (id: string): string => `${id} between 1 and ${Number.MAX_SAFE_INTEGER}`;
