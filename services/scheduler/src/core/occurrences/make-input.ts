import {
  findUnsafeJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ServiceError,
} from '@orrery/contracts';
import {
  type CompiledTemplate,
  CRON_TEMPLATE_NAMES,
  compileTemplate,
  evaluateTemplate,
  failureDetail,
} from '@orrery/expressions';
import { timestampOf } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';

/** What an occurrence tells its template. Times in milliseconds since the epoch. */
export interface Moment {
  readonly counter: number;
  readonly scheduledAt: number;
  readonly now: number;
}

/** `cronState` in a template. */
export interface CronState {
  readonly counter: number;
  readonly scheduledAt: string | null;
  readonly result: JsonValue;
}

/** A schedule, as far as the input of its occurrences goes. */
export interface TemplateSource {
  readonly input: JsonObject | null;
  readonly definition_hash: string | null;
  readonly cron_state: CronState;
  readonly deployment: string;
  readonly event: string;
  readonly world_address: string;
}

/** Characters of the templates that are remembered compiled. Compiled, each may take sixty bytes. */
const REMEMBERED = 1024 * 1024;
/** What a template takes besides its text. */
const OVERHEAD = 200;

/** By the hash of their definition. */
const compiled = new LRUCache<string, CompiledTemplate>({ maxSize: REMEMBERED });

/** The input of an occurrence, from the version's template. @throws `template_failed` as its owner reads it */
export function makeInput(schedule: TemplateSource, moment: Moment): JsonObject {
  if (schedule.input === null) return {};
  const evaluated = evaluateTemplate(
    compiledOf(schedule.input, schedule.definition_hash),
    scopeOf(schedule, moment),
  );
  if (!evaluated.ok) {
    const { placeholder, pointer, reason, told } = evaluated.problem;
    throw failed(failureDetail(evaluated.problem), { placeholder, pointer, reason, told });
  }
  const unsafe = findUnsafeJson(evaluated.value);
  if (unsafe !== undefined) throw failed(unsafe.message, { pointer: unsafe.pointer, reason: unsafe.message });
  if (!isJsonObject(evaluated.value)) throw failed('The input is no object.', { reason: 'no object' });
  return evaluated.value;
}

const failed = (detail: string, facts: JsonObject) => new ServiceError('template_failed', detail, { facts });

function compiledOf(input: JsonObject, hash: string | null): CompiledTemplate {
  const known = hash === null ? undefined : compiled.get(hash);
  if (known !== undefined) return known;
  const result = compileTemplate(input, { names: CRON_TEMPLATE_NAMES });
  // The catalog has checked it on saving.
  if (!result.ok) throw failed(result.problems[0]?.message ?? 'The template does not compile.', {});
  if (hash !== null) compiled.set(hash, result.template, { size: OVERHEAD + JSON.stringify(input).length });
  return result.template;
}

/** The values of the names in a schedule's input (docs/templates.md); `unix` is in whole seconds. */
function scopeOf(schedule: TemplateSource, { counter, scheduledAt, now }: Moment): Record<string, JsonValue> {
  const timestamp = timestampOf(now);
  return {
    counter,
    cronState: { ...schedule.cron_state },
    scheduledAt: timestampOf(scheduledAt),
    walletAddress: null,
    timestamp,
    date: timestamp.slice(0, 10),
    unix: Math.floor(now / 1000),
    deployment: schedule.deployment,
    event: schedule.event,
    world: schedule.world_address,
  };
}
