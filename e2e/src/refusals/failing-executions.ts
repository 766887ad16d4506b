import type { RefusalEvent } from './refusal-world.js';

/** An execution that is refused: what is asked, and the code and status that answer. */
export type FailingExecution = readonly [
  what: string,
  event: string,
  input: object,
  status: number,
  code: string,
];
type Known = readonly [what: string, event: RefusalEvent, input: object, status: number, code: string];

const text = (characters: number) => 'x'.repeat(characters);

/** Failures from *read* on: each leaves one failed entry with the reason and changes nothing (docs/execution.md). */
export const failedInTheRun: readonly Known[] = [
  ['$increment of a text', 'incrementText', { id: 'A' }, 400, 'operator_type_mismatch'],
  ['$append to a number', 'appendNumber', { id: 'A' }, 400, 'operator_type_mismatch'],
  ['$merge into a list', 'mergeList', { id: 'A' }, 400, 'operator_type_mismatch'],
  ['$merge of a text', 'mergeText', { id: 'B', text: 'x' }, 400, 'operator_type_mismatch'],
  ['$increment by a text', 'incrementByText', { id: 'A', text: '1' }, 400, 'operator_type_mismatch'],
  ['$increment of an integer past 2^53 - 1', 'fine', { id: 'full', by: 1 }, 400, 'invalid_state'],
  ['a division by zero', 'divide', { id: 'A', n: 1 }, 400, 'template_failed'],
  ['NaN', 'notANumber', { id: 'A', n: 1 }, 400, 'template_failed'],
  ['an infinite product', 'product', { id: 'A', n: 1e200 }, 400, 'template_failed'],
  ['a missing key of the input', 'missingKey', { id: 'A' }, 400, 'template_failed'],
  ['a missing instance', 'missingEntity', { id: 'nobody' }, 400, 'template_failed'],
  ['a text minus a number', 'badOperation', { id: 'A', text: 'x' }, 400, 'template_failed'],
  ['a change key without a colon', 'anyKey', { key: 'horse' }, 400, 'invalid_change_key'],
  ['a change key without an instanceId', 'anyKey', { key: 'horse:' }, 400, 'invalid_change_key'],
  ['a change key without a schema', 'anyKey', { key: ':A' }, 400, 'invalid_change_key'],
  ['an instanceId that is too long', 'anyKey', { key: `horse:${text(256)}` }, 400, 'invalid_change_key'],
  ['an instanceId with a control character', 'anyKey', { key: 'horse:a\nb' }, 400, 'invalid_change_key'],
  ['a reserved instanceId', 'anyKey', { key: 'horse:constructor' }, 400, 'invalid_change_key'],
  ['an unknown schema in a change key', 'anyKey', { key: 'ghost:A' }, 400, 'change_not_allowed'],
  ['a schema outside the mode map', 'otherSchema', { id: 'A' }, 400, 'change_not_allowed'],
  ['the removal of what is not there', 'remove', { id: 'nobody' }, 400, 'change_not_allowed'],
  ['a value below its minimum', 'invalid', { id: 'A', value: -1 }, 400, 'invalid_state'],
  ['a value of the wrong type', 'invalid', { id: 'A', value: 'many' }, 400, 'invalid_state'],
  ['a fraction where a whole number is asked for', 'invalid', { id: 'A', value: 0.5 }, 400, 'invalid_state'],
  ['null for what is required', 'nullRequired', { id: 'A' }, 400, 'invalid_state'],
  ['a state beyond 64 KiB', 'largeText', { id: 'A', text: text(30_000) }, 400, 'invalid_state'],
  ['a result that breaks its contract', 'badResult', { winner: 7 }, 400, 'invalid_result'],
  [
    'a template that grows beyond all bounds',
    'repeat',
    { id: 'A', text: text(1000), list: Array(500).fill(0) },
    400,
    'template_failed',
  ],
  ['an entry beyond 256 KiB', 'largeEntry', { text: text(52_000) }, 400, 'change_too_large'],
  ['more than 500 changes', 'tooMany', { id: 'x' }, 400, 'change_too_large'],
  ['a leap beyond a guard', 'guarded', { id: 'A', by: 3, name: 'x' }, 400, 'change_not_allowed'],
  ['a guarded attribute', 'guarded', { id: 'A', by: 1, name: 'new' }, 400, 'change_not_allowed'],
  ['a creation against a guard', 'guarded', { id: 'new', by: 1, name: 'x' }, 400, 'change_not_allowed'],
  ['more instances than a guard allows', 'twoGuarded', {}, 400, 'change_not_allowed'],
  ['a removal against a guard', 'keepGuarded', { id: 'A' }, 400, 'change_not_allowed'],
  [
    'more than 500 instances named',
    'filtered',
    { who: Array.from({ length: 501 }, (_, i) => i) },
    409,
    'read_set_too_large',
  ],
];

/** Refusals before *read*: no entry (docs/execution.md). */
export const refusedBeforeTheRun: readonly FailingExecution[] = [
  ['an event that does not exist', 'ghost', {}, 400, 'event_not_bound'],
  ['an event that is not bound', 'unbound', {}, 400, 'event_not_bound'],
  ['a version with nothing to run', 'nothing', {}, 400, 'mutation_missing'],
  ['a missing input', 'strict', {}, 400, 'invalid_input'],
  ['an undeclared input', 'strict', { id: 'A', more: 1 }, 400, 'invalid_input'],
  ['an input of the wrong type', 'strict', { id: 7 }, 400, 'invalid_input'],
  ['a fraction of a lap', 'strict', { id: 'A', laps: 0.5 }, 400, 'invalid_input'],
  ['null for an optional input', 'strict', { id: 'A', laps: null }, 400, 'invalid_input'],
  ['a number among texts', 'strict', { id: 'A', tags: ['x', 7] }, 400, 'invalid_input'],
  ['an object where a filter reads', 'filtered', { who: { id: 'A' } }, 400, 'invalid_input'],
  [
    'a list with an object where a filter reads',
    'filtered',
    { who: ['A', { id: 'B' }] },
    400,
    'invalid_input',
  ],
  ['an input beyond 64 KiB', 'filtered', { text: text(66_000) }, 400, 'invalid_input'],
  ['an event that is no name', '', {}, 400, 'validation_failed'],
  ['an event with a control character', 'a\u0007', {}, 400, 'validation_failed'],
];
