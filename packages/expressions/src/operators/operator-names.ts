/** Operators on one attribute of a direct template's change (decisions §4, "Changing"). */
export const OPERATOR_NAMES = ['$set', '$merge', '$increment', '$append', '$unset'] as const;
export type OperatorName = (typeof OPERATOR_NAMES)[number];

/** `{ "$delete": true }` in a change's place removes the instance. */
export const DELETE_OPERATOR = '$delete';

export const isOperatorName = (key: string): key is OperatorName =>
  (OPERATOR_NAMES as readonly string[]).includes(key);
