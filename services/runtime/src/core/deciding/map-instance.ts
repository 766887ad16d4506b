import {
  attributeName,
  type FieldProblem,
  fieldProblem,
  findUnsafeJson,
  isJsonObject,
  type JsonObject,
  refusal,
  ServiceError,
} from '@orrery/contracts';
import { type CompiledSchema, type InstanceState, jsonBytes, stateTooLarge } from '@orrery/deciding';
import {
  type CompiledTemplate,
  type Condition,
  compileCondition,
  compileTemplate,
  evaluateTemplate,
  failureDetail,
  satisfies,
} from '@orrery/expressions';

/** How instances are made to satisfy their schema. */
export interface InstanceMapping {
  /** Undefined: they are only checked. */
  readonly template: CompiledTemplate | undefined;
  readonly where: Condition | undefined;
  /** Defaults are also written where nothing but their absence selects an instance. */
  readonly fillDefaults: boolean;
}

interface AskedMapping {
  readonly mapping?: JsonObject | undefined;
  readonly where?: string | undefined;
  readonly fillDefaults?: boolean | undefined;
}

const NAMES = ['instance', 'id'];

/** @throws ServiceError `invalid_template`, `validation_failed`, with pointers into the body */
export function readMapping({ mapping, where, fillDefaults = false }: AskedMapping): InstanceMapping {
  const condition = where === undefined ? undefined : compileCondition(where);
  if (condition?.ok === false)
    throw refusal([fieldProblem('/where', 'invalid_condition', condition.problem.message)], 'The body');
  const names = Object.keys(mapping ?? {}).filter((name) => !attributeName.safeParse(name).success);
  const wrong = names.map((name) =>
    fieldProblem(`/mapping/${name}`, 'invalid_attribute_name', 'No attribute can have this name.'),
  );
  if (wrong.length > 0) throw refusal(wrong, 'The body');
  const compiled = mapping && compileTemplate(mapping, { names: NAMES });
  if (compiled?.ok === false) {
    const errors = compiled.problems.map((problem) => ({
      ...problem,
      pointer: `/mapping${problem.pointer}`,
    }));
    throw new ServiceError('invalid_template', errors[0]?.message, { errors });
  }
  return { template: compiled?.template, where: condition?.condition, fillDefaults };
}

export type Mapped =
  /** It satisfies its schema, and nothing else selects it. */
  | { readonly kind: 'fits' }
  | { readonly kind: 'mapped'; readonly state: JsonObject }
  | { readonly kind: 'unfit'; readonly problems: readonly FieldProblem[] };

/** Units of work that a condition, and the patterns of the schema, have for one instance. */
const WHERE_WORK = 10_000;
const PATTERN_WORK = 400_000;
/** The owner asks, who may see all values. */
const TOLD = { showsValues: true };

/**
 * What a mapping makes of an instance: a pure function of its state, so that it can be repeated. A mapped instance satisfies
 * its schema, has its defaults and at most `maxBytes` of JSON, and is selected no more: mapping it again changes nothing.
 * Never throws.
 */
export function mapInstance(
  schema: CompiledSchema,
  { template, where, fillDefaults }: InstanceMapping,
  instanceId: string,
  { state }: InstanceState,
  maxBytes: number,
): Mapped {
  const complete = schema.withDefaults(state);
  const isSelected = (instance: JsonObject) =>
    where !== undefined && satisfies(where, { instance, id: instanceId }, { work: WHERE_WORK }) === true;
  const problems = schema.problemsOf(complete, { left: PATTERN_WORK }, TOLD);
  if (problems.length === 0 && !isSelected(complete))
    return fillDefaults && complete !== state ? mapped(complete, maxBytes) : { kind: 'fits' };
  if (template === undefined) return { kind: 'unfit', problems };
  const evaluated = evaluateTemplate(template, { instance: complete, id: instanceId });
  if (!evaluated.ok)
    return unfit(evaluated.problem.pointer, 'template_syntax', failureDetail(evaluated.problem));
  const unsafe = findUnsafeJson(evaluated.value);
  if (unsafe !== undefined) return { kind: 'unfit', problems: [unsafe] };
  const after = schema.withDefaults(withValues(state, evaluated.value as JsonObject));
  const outcome = mapped(after, maxBytes);
  if (outcome.kind === 'unfit') return outcome;
  const left = schema.problemsOf(after, { left: PATTERN_WORK }, TOLD);
  if (left.length > 0) return { kind: 'unfit', problems: left };
  return isSelected(after)
    ? unfit(
        '',
        'still_selected',
        'The condition selects it still, so that it would be mapped again and again.',
      )
    : outcome;
}

const mapped = (state: JsonObject, maxBytes: number): Mapped =>
  jsonBytes(state, maxBytes) > maxBytes
    ? { kind: 'unfit', problems: [stateTooLarge('', maxBytes)] }
    : { kind: 'mapped', state };

const unfit = (pointer: string, code: 'template_syntax' | 'still_selected', message: string): Mapped => ({
  kind: 'unfit',
  problems: [fieldProblem(pointer, code, message)],
});

/** Null removes an attribute. */
function withValues(state: JsonObject, values: JsonObject): JsonObject {
  const kept = Object.entries(state).filter(([name]) => !Object.hasOwn(values, name));
  const given = Object.entries(isJsonObject(values) ? values : {}).filter(([, value]) => value !== null);
  return Object.fromEntries([...kept, ...given]);
}
