/** One thing wrong with one part of a request; `pointer` is RFC 6901 into the body, or `#query/…`, `#path/…`. */
export interface FieldProblem {
  pointer: string;
  code: string;
  message: string;
  /** What to write, or to do; definitions have one for each problem. */
  suggestion?: string;
}

/** What is said of a definition: a mistake is refused; a warning tells of what may be meant. */
const MISTAKES = {
  // The form of what was sent
  invalid_type: 'Write a value of the type that the reference names for this member.',
  invalid_value: 'Write one of the values that the reference lists for this member.',
  too_small: 'Write more, or a greater number.',
  too_big: 'Write less, or a smaller number.',
  invalid: 'Write it in the form that the message describes.',
  unknown_property: 'Remove the property, or write the name that is meant.',
  forbidden_key: 'Give the key another name.',
  invalid_text: 'Remove the characters that are no text: U+0000 and lone surrogates.',
  number_out_of_range: 'Write a finite number, or a large one as a text.',
  too_deep: 'Nest the values less deeply.',
  too_many_values: 'Split the definition, or remove what is not needed.',
  too_large: 'Shorten the text, or split the definition.',
  limit_reached: 'Remove something first, or ask the operator for a higher limit (GET /api/limits).',
  conflicting_fields: 'Give the value once, in one of its spellings.',
  // Names
  unknown_entity_schema: 'Create the entity schema first, or write the name of one that the world has.',
  entity_schema_exists: 'Give the entity schema another name, or change the one that is there.',
  attribute_exists: 'Give the attribute another name, or change the one that is there.',
  event_exists: 'Give the event another name, or change the one that is there.',
  invalid_attribute_name: 'Write the name of an attribute: without dots, "{{" and a "$" at its beginning.',
  // Attributes
  contradictory_attribute: 'Change the constraint or the default value, so that the attribute can hold one.',
  invalid_pattern: 'Write a regular expression without back-references and look-around.',
  // Contracts and what they refuse
  invalid_schema: 'Write a short map such as { "laps": "integer?" }, or a JSON Schema with "properties".',
  unknown_type: 'Write one of the types: string, integer, float, number, boolean, json, object, array, any.',
  unknown_reference: 'Let $ref lead to a schema of this document, as in "#/$defs/car".',
  reference_loop: 'Put a property or a list between the schema and the reference to it.',
  schema_too_large: 'Shorten the contract.',
  required: 'Add the field.',
  undeclared: 'Declare the field in the contract, or remove it.',
  wrong_type: 'Write a value of the type that is declared.',
  out_of_range: 'Write a value within the bounds.',
  not_allowed: 'Write one of the values that are allowed.',
  pattern_mismatch: 'Write a text that matches the pattern.',
  wrong_length: 'Write as many characters, elements or members as the contract asks for.',
  not_unique: 'Write each element once.',
  no_match: 'Write a value that fits one of the alternatives, and only one of them with oneOf.',
  // Reading
  path_not_in_input: 'Declare the path in the inputSchema, or write one that it declares.',
  invalid_path: 'Write names with dots between them that start inside the input, as in "race.horse".',
  entities_not_read: 'Name the entity schema in readEntities.',
  history_not_read: 'Add readHistory, as in { "last": 20 }.',
  invalid_condition: 'Write a condition such as "instance.wins > input.least" (docs/queries.md).',
  invalid_follow_up:
    'Name an event, and "after" or "at" if it is to be executed later; or a key to "cancel" (docs/timers.md).',
  invalid_order: 'Write attributes with commas between them, as in "wins desc, speed".',
  // Templates
  random_not_allowed: 'Draw in the template of an event, or in its followUps.',
  template_required: 'Add a template, or set the mode "ai" with a behaviorPrompt.',
  template_syntax: 'Write a CEL expression between the braces (docs/templates.md).',
  template_too_large: 'Shorten the template, or split the event.',
  unknown_name: 'Write a name that templates know, such as "input" or "entities".',
  unknown_function: 'Write a function of docs/templates.md.',
  unsupported: 'Write it without what templates do not support (docs/templates.md).',
  unknown_operator: 'Write $set, $merge, $increment, $append or $unset.',
  wrong_operand: 'Give the operator a value that it takes, or one placeholder alone.',
  invalid_mutation: 'Write changes as objects of attributes, and the result as an object.',
  invalid_change_key: 'Write keys of changes as "schema:instanceId", with placeholders as {{ … }}.',
  change_not_allowed: 'Add the entity schema to stateChanges, or do not change it.',
  // Running
  behavior_prompt_required: 'Add a behaviorPrompt, or set the mode "direct" with a template.',
  invalid_cron_schedule: 'Write five fields, as in "0 8 * * 1" for Mondays at 8:00.',
  // Warnings
  nested_type: 'Write the type alone, as in "laps": "integer".',
  without_effect: 'Set the visibility or the mode under which it has an effect, or remove it.',
  literal_reference: 'Write {{ … }} around what is to be evaluated.',
  no_schema: 'Write the name of the entity schema and a colon before the placeholder.',
  dotted_name: 'Change a member inside an attribute with $merge.',
  unknown_attribute: 'Write the name of an attribute that the entity schema has, or add the attribute to it.',
  unknown_event: 'Write the name of an event that the world has, or create the event.',
  event_not_bound: 'Bind the event in the deployment, or write the name of one that it binds.',
  nothing_to_run: 'Add mutationSettings with a template, or a behaviorPrompt.',
  no_attributes: 'Add attributes to the entity schema.',
  reads_nothing:
    'Add to readEntities the schemas whose instances the model may change, or set stateChanges to {} where it changes none.',
  price_raised: 'Make a new version for the new price, or tell the deployments that bind this one.',
  pay_to_address_missing: 'Give the deployment a payToAddress on a chain where this service takes payments.',
} as const;

/** A code that a definition's mistakes and warnings have (docs/mistakes.md). */
export type MistakeCode = keyof typeof MISTAKES;

export const MISTAKE_CODES = Object.keys(MISTAKES) as readonly MistakeCode[];
const isMistakeCode = (code: string): code is MistakeCode => Object.hasOwn(MISTAKES, code);

/** Codes of other requests' parts. */
type RequestCode =
  | 'ai_model_unpriced'
  | 'duplicate_event'
  | 'event_binding_exists'
  | 'event_binding_not_found'
  | 'in_the_past'
  | 'invalid_element'
  | 'invalid_filter_value'
  | 'invalid_format'
  | 'invalid_key'
  | 'invalid_union'
  | 'not_multiple_of'
  | 'repeated'
  | 'still_selected'
  | 'too_complex'
  | 'unknown_ai_model'
  | 'unknown_chain'
  | 'unknown_deployment'
  | 'unknown_event_version';

export type ProblemCode = MistakeCode | RequestCode;

export const fieldProblem = (
  pointer: string,
  code: ProblemCode,
  message: string,
  suggestion?: string,
): FieldProblem => ({ pointer, code, message, ...(suggestion !== undefined && { suggestion }) });

/** A problem that says what to write, or to do. */
export interface SuggestedProblem extends FieldProblem {
  suggestion: string;
}

/** A problem of a definition with its own suggestion, or else the one of its code. */
export const suggested = ({ pointer, code, message, suggestion }: FieldProblem): SuggestedProblem => ({
  pointer,
  code,
  message,
  suggestion: suggestion ?? (isMistakeCode(code) ? MISTAKES[code] : message),
});

/** Problems, and warnings, that the check of a world names at most; so many warnings an answer has. */
export const MAX_FOUND = 100;

/** The problems, each with a suggestion if definitions may have it. */
export const withSuggestions = (problems: readonly FieldProblem[]): FieldProblem[] =>
  problems.map((problem) => (isMistakeCode(problem.code) ? suggested(problem) : problem));

/** How many problems one answer tells at most; the others are found when these are mended. */
export const MAX_PROBLEMS = 20;
